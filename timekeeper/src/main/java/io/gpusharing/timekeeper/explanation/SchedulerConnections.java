package io.gpusharing.timekeeper.explanation;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.web.TrustAnchors;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * What it takes to talk to the scheduler: connections that trust the authority which it has
 * published and no other, and a token that is good for nothing else.
 */
@Component
class SchedulerConnections {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** Another authority is followed that soon. */
    private static final Duration KEPT = Duration.ofSeconds(30);

    private static final String PUBLISHED = "ca.crt";

    private final KubernetesClient client;
    private final String namespace;
    private final ExplanationProperties properties;
    private final Clock clock;
    private @Nullable Trusting present;

    private record Trusting(String authority, HttpClient connections, Instant readAt) {}

    SchedulerConnections(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            ExplanationProperties properties,
            Clock clock) {
        this.client = client;
        this.namespace = namespace;
        this.properties = properties;
        this.clock = clock;
    }

    /**
     * Connections to the scheduler.
     *
     * @throws IOException if its authority is not known
     */
    synchronized HttpClient connections() throws IOException {
        Instant now = clock.instant();
        Trusting known = present;
        if (known != null && now.isBefore(known.readAt().plus(KEPT))) {
            return known.connections();
        }
        Trusting next = next(known, now);
        present = next;
        if (known != null && !known.authority().equals(next.authority())) {
            // What is being asked is answered.
            known.connections().shutdown();
        }
        return next.connections();
    }

    /** What was published last is kept where it cannot be read. */
    private Trusting next(@Nullable Trusting known, Instant now) throws IOException {
        try {
            String authority = authority();
            return known != null && known.authority().equals(authority)
                    ? new Trusting(authority, known.connections(), now)
                    : trusting(authority, now);
        } catch (IOException e) {
            if (known == null) {
                throw e;
            }
            return new Trusting(known.authority(), known.connections(), now);
        }
    }

    /** The certificate that was shown is of another authority: it is read again next time. */
    synchronized void doubt() {
        Trusting known = present;
        if (known != null) {
            present = new Trusting(known.authority(), known.connections(), Instant.MIN);
        }
    }

    private static Trusting trusting(String authority, Instant now) throws IOException {
        try {
            return new Trusting(
                    authority,
                    HttpClient.newBuilder()
                            .sslContext(TrustAnchors.trusting(authority))
                            .connectTimeout(PATIENCE)
                            .version(HttpClient.Version.HTTP_1_1)
                            .followRedirects(HttpClient.Redirect.NEVER)
                            .proxy(HttpClient.Builder.NO_PROXY)
                            .build(),
                    now);
        } catch (IllegalArgumentException e) {
            throw new IOException("what the scheduler has published is no certificate", e);
        }
    }

    private String authority() throws IOException {
        try {
            ConfigMap map =
                    client.configMaps()
                            .inNamespace(namespace)
                            .withName(properties.authority())
                            .get();
            String pem = map == null || map.getData() == null ? null : map.getData().get(PUBLISHED);
            if (pem == null) {
                throw new IOException(
                        "the scheduler has not published its authority in ConfigMap %s/%s yet"
                                .formatted(namespace, properties.authority()));
            }
            return pem;
        } catch (KubernetesClientException e) {
            throw new IOException("the scheduler's authority cannot be read", e);
        }
    }

    /**
     * Our token for the scheduler. It is read each time: a kubelet writes another one before it
     * expires.
     *
     * @throws IOException if there is none
     */
    String token() throws IOException {
        String token = Files.readString(properties.token()).strip();
        if (token.isEmpty()) {
            throw new IOException("there is no token in " + properties.token());
        }
        return token;
    }
}
