package io.gpusharing.webhook.tls;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The authority's Secret. Whichever replica is first creates or replaces it; the others get a
 * conflict and take what is there. No leader is needed.
 */
final class AuthoritySecret {

    /** Name of the Secret. */
    static final String NAME = "gpusharing-webhook-ca";

    private static final Logger log = LoggerFactory.getLogger(AuthoritySecret.class);
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final String namespace;
    private final Duration validity;
    private @Nullable TrustedAuthority known;

    AuthoritySecret(KubernetesClient client, String namespace, Duration validity) {
        this.client = client;
        this.namespace = namespace;
        this.validity = validity;
    }

    /**
     * The authority in force: made if there is none, followed by its successor if it is due, put
     * back if somebody deleted or broke it.
     *
     * @throws KubernetesClientException if the API server does not answer as hoped
     */
    TrustedAuthority inForceAt(Instant now) {
        Secret secret = secret().get();
        Optional<TrustedAuthority> kept =
                secret == null ? Optional.empty() : TrustedAuthority.read(decoded(secret));
        TrustedAuthority wanted = wanted(kept, now);
        if (kept.isEmpty() || !kept.get().equals(wanted)) {
            wanted = write(secret, wanted);
        }
        known = wanted;
        return wanted;
    }

    private TrustedAuthority wanted(Optional<TrustedAuthority> kept, Instant now) {
        TrustedAuthority present =
                kept.or(() -> Optional.ofNullable(known))
                        .orElseGet(() -> TrustedAuthority.first(now, validity));
        return present.isDueAt(now) ? present.successor(now, validity) : present;
    }

    private TrustedAuthority write(@Nullable Secret present, TrustedAuthority wanted) {
        try {
            if (present == null) {
                created(wanted);
            } else {
                filled(present, wanted);
            }
            log.atInfo()
                    .addKeyValue("secret", NAME)
                    .addKeyValue(
                            "notAfter", wanted.current().certificate().getNotAfter().toInstant())
                    .log("certificate authority made");
            return wanted;
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT) {
                throw e;
            }
            // Another replica was faster.
            Secret theirs = secret().get();
            return Optional.ofNullable(theirs)
                    .flatMap(secret -> TrustedAuthority.read(decoded(secret)))
                    .orElseThrow(() -> e);
        }
    }

    private Resource<Secret> secret() {
        return client.secrets().inNamespace(namespace).withName(NAME);
    }

    private void created(TrustedAuthority authority) {
        client.resource(
                        new SecretBuilder()
                                .withNewMetadata()
                                .withName(NAME)
                                .withNamespace(namespace)
                                .addToLabels("app.kubernetes.io/part-of", "gpusharing")
                                .endMetadata()
                                .withType("Opaque")
                                .withStringData(authority.data())
                                .build())
                .create();
    }

    /** With the version that was read: the API server refuses it if somebody was faster. */
    private void filled(Secret present, TrustedAuthority authority) {
        client.resource(
                        new SecretBuilder(present)
                                .withData(Map.of())
                                .withStringData(authority.data())
                                .build())
                .update();
    }

    private static Map<String, String> decoded(Secret secret) {
        var decoded = new HashMap<String, String>();
        if (secret.getData() != null) {
            secret.getData()
                    .forEach((key, value) ->
                            decoded.put(key, new String(Base64.getDecoder().decode(value), UTF_8)));
        }
        return decoded;
    }
}
