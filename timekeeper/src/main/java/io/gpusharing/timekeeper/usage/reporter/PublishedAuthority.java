package io.gpusharing.timekeeper.usage.reporter;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * The reporting CA as it stands in its ConfigMap, where the webhook takes it from, too. Read once a
 * minute in the background; a report never waits for it.
 */
@Component
class PublishedAuthority implements TrustBundle {

    private static final Logger log = LoggerFactory.getLogger(PublishedAuthority.class);
    private static final String NAME = "gpusharing-reporting-ca";
    private static final String KEY = "ca.crt";
    private static final Duration EVERY = Duration.ofMinutes(1);

    private final KubernetesClient client;
    private final String namespace;
    private final Clock clock;
    private final AtomicReference<Instant> next = new AtomicReference<>(Instant.MIN);
    private volatile String bundle = "";

    PublishedAuthority(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            Clock clock) {
        this.client = client;
        this.namespace = namespace;
        this.clock = clock;
    }

    /** So that the first answer has it already. */
    @EventListener(ApplicationReadyEvent.class)
    void prepare() {
        pem();
    }

    @Override
    public String pem() {
        Instant now = clock.instant();
        Instant due = next.get();
        if (!now.isBefore(due) && next.compareAndSet(due, now.plus(EVERY))) {
            Thread.ofVirtual().name("reporting-ca").start(this::read);
        }
        return bundle;
    }

    private void read() {
        try {
            ConfigMap map = client.configMaps().inNamespace(namespace).withName(NAME).get();
            if (map != null && map.getData() != null) {
                bundle = map.getData().getOrDefault(KEY, bundle);
            }
        } catch (KubernetesClientException e) {
            // The one that is known stays good for years.
            log.atDebug()
                    .addKeyValue("configMap", NAME)
                    .setCause(e)
                    .log("cannot read reporting CA");
        }
    }
}
