package io.gpusharing.web;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ApiServerAccess;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Looks every fifteen seconds whether the API server lets this service work, and says if it does
 * not: as health, for readiness, and as a metric. Liveness must not depend on it: a container that
 * is started again has the token of its pod, which is the void one.
 */
public final class ApiServerAccessTask extends LeaderTask implements HealthIndicator {

    private static final Duration EVERY = Duration.ofSeconds(15);

    private final ApiServerAccess access;
    private final Duration keptInService;

    /**
     * @param needed rights without which the service does not work
     * @param keptInService for how long the service stays ready while it is refused, because what
     *     it knows is good enough; the health has the reason meanwhile
     */
    public ApiServerAccessTask(
            KubernetesClient client,
            List<ResourceAttributes> needed,
            Duration keptInService,
            MeterRegistry metrics,
            Clock clock) {
        super("api-server-access", clock);
        this.access = new ApiServerAccess(client, needed, clock);
        this.keptInService = keptInService;
        Gauge.builder("gpusharing.apiserver.refused", access, it -> it.refusedFor().toSeconds())
                .baseUnit("seconds")
                .description(
                        "Since when the API server answers 401, or 403 where this service cannot"
                                + " work without; more than 60 is an alert")
                .register(metrics);
    }

    @Override
    protected Instant work(Instant now) {
        access.look();
        return now.plus(EVERY);
    }

    @Override
    public Health health() {
        Optional<String> refusal = access.refusal();
        if (refusal.isEmpty()) {
            return Health.up().build();
        }
        Duration lasts = access.refusedFor();
        return (lasts.compareTo(keptInService) < 0 ? Health.up() : Health.outOfService())
                .withDetail("refused", refusal.get())
                .withDetail("forSeconds", lasts.toSeconds())
                .build();
    }
}
