package io.gpusharing.timekeeper.cluster;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Whether the cluster's pods are known. Once they are, an API server that is away changes nothing.
 */
@Component("podsKnown")
class PodsKnownHealthIndicator implements HealthIndicator {

    private final ClusterView view;

    PodsKnownHealthIndicator(ClusterView view) {
        this.view = view;
    }

    @Override
    public Health health() {
        return view.listed()
                ? Health.up().build()
                : Health.down().withDetail("reason", "pods have not been listed yet").build();
    }
}
