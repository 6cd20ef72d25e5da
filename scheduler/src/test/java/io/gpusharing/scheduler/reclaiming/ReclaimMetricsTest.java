package io.gpusharing.scheduler.reclaiming;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a scrape shows; units are in the names, and every label has a fixed set of values. */
class ReclaimMetricsTest {

    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ReclaimMetrics metrics = new ReclaimMetrics(registry);

    @Test
    void waitersAreCountedByReasonUntilTheNextRound() {
        Waiter waiter = Cluster.pod("team-b", "w").waiting(Duration.ofMinutes(1));
        metrics.left(List.of(new Leave(waiter, Reason.KEPT, "", null, List.of())));
        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_waiting_pods{reason=\"kept\"} 1.0");

        metrics.left(List.of());
        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_waiting_pods{reason=\"kept\"} 0.0");
    }
}
