package io.gpusharing.webhook.readiness;

import io.gpusharing.webhook.cluster.ClusterWatch;
import io.gpusharing.webhook.tls.Certificates;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;

/**
 * Ready means: an API server that asked now would get an answer. We know because we have just asked
 * ourselves, and because what the answer depends on has been read.
 */
final class AdmissionHealthIndicator implements HealthIndicator {

    private static final Duration ASKED_AGAIN_AFTER = Duration.ofSeconds(10);

    private final Certificates certificates;
    private final ClusterWatch cluster;
    private final Clock clock;
    private volatile int port;
    private boolean warm;
    private Instant answeredAt = Instant.MIN;

    AdmissionHealthIndicator(Certificates certificates, ClusterWatch cluster, Clock clock) {
        this.certificates = certificates;
        this.cluster = cluster;
        this.clock = clock;
    }

    @EventListener
    void listening(WebServerInitializedEvent event) {
        if (event.getApplicationContext().getServerNamespace() == null) {
            port = event.getWebServer().getPort();
        }
    }

    @Override
    public Health health() {
        List<String> missing = cluster.missing();
        if (!missing.isEmpty()) {
            return Health.outOfService().withDetail("notReadYet", missing).build();
        }
        String bundle = certificates.trustedBundle();
        // Once ready, an API server that is away for a while is no reason to be asked no more.
        if (bundle == null || (!warm && certificates.missing() != null)) {
            return Health.outOfService()
                    .withDetail("certificates", String.valueOf(certificates.missing()))
                    .build();
        }
        String problem = ask(bundle);
        return problem == null
                ? Health.up().build()
                : Health.down().withDetail("selfReview", problem).build();
    }

    private synchronized @Nullable String ask(String bundle) {
        Instant now = clock.instant();
        if (warm && now.isBefore(answeredAt.plus(ASKED_AGAIN_AFTER))) {
            return null;
        }
        try {
            var review = new SelfReview(port, certificates.serverName(), bundle);
            int times = warm ? 1 : WarmUp.HANDSHAKES;
            for (int i = 0; i < times; i++) {
                String answer = review.ask(WarmUp.REVIEW);
                if (!answer.startsWith("HTTP/1.1 200") || !answer.contains("\"allowed\":true")) {
                    return answer.lines().findFirst().orElse("no answer");
                }
            }
            warm = true;
            answeredAt = now;
            return null;
        } catch (IOException | IllegalArgumentException e) {
            // The latter if the caBundle holds no certificates.
            return String.valueOf(e.getMessage());
        }
    }
}
