package io.gpusharing.webhook.tls;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.tls.CertificateAuthority;
import io.gpusharing.tls.Pem;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Makes the authority that usage reports are received under, if we start before the timekeeper. Its
 * key is written once and never read here; it belongs to the timekeeper.
 */
public final class ReportingAuthority implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(ReportingAuthority.class);
    private static final String NAME = "gpusharing-reporting-ca";
    private static final Duration VALIDITY = Duration.ofDays(3650);
    private static final Duration RETRY = Duration.ofSeconds(2);
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final String namespace;
    private final Clock clock;
    private volatile boolean running;

    /**
     * @param namespace our own
     */
    public ReportingAuthority(KubernetesClient client, String namespace, Clock clock) {
        this.client = client;
        this.namespace = namespace;
        this.clock = clock;
    }

    @Override
    public void start() {
        running = true;
        Thread.ofVirtual().name("reporting-authority").start(this::untilItExists);
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void untilItExists() {
        while (running) {
            try {
                createIfMissing();
                return;
            } catch (KubernetesClientException e) {
                log.atDebug().setCause(e).log("reporting authority not checked; trying again");
                pause();
            }
        }
    }

    /** Creates Secret and ConfigMap, unless the timekeeper has made or is making them. */
    void createIfMissing() {
        if (client.configMaps().inNamespace(namespace).withName(NAME).get() != null) {
            return;
        }
        var authority =
                CertificateAuthority.create("gpusharing-reporting", clock.instant(), VALIDITY);
        String certificate = Pem.of(authority.certificate());
        boolean ours =
                created(
                        new SecretBuilder()
                                .withNewMetadata()
                                .withName(NAME)
                                .withNamespace(namespace)
                                .addToLabels("app.kubernetes.io/part-of", "gpusharing")
                                .endMetadata()
                                .withType("kubernetes.io/tls")
                                .withStringData(
                                        Map.of(
                                                "tls.crt",
                                                certificate,
                                                "tls.key",
                                                Pem.of(authority.key())))
                                .build());
        if (ours) {
            created(
                    new ConfigMapBuilder()
                            .withNewMetadata()
                            .withName(NAME)
                            .withNamespace(namespace)
                            .addToLabels("app.kubernetes.io/part-of", "gpusharing")
                            .endMetadata()
                            .withData(Map.of("ca.crt", certificate))
                            .build());
            log.atInfo().log("reporting authority made");
        }
    }

    private boolean created(HasMetadata object) {
        try {
            client.resource(object).create();
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == CONFLICT) {
                return false;
            }
            throw e;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
