package io.gpusharing.timekeeper.reclaim;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Leave;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Reason;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
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

    private static Victim victim() {
        return new Victim(
                new PodRef("u", "team-a", "p"),
                "n1",
                "team-a",
                "u",
                "",
                90_000_000,
                Duration.ofSeconds(30),
                null);
    }

    @Test
    void onlyEvictedPodsCountAsCost() {
        metrics.carriedOut(victim(), Result.Evicted);
        metrics.carriedOut(victim(), Result.Refused);

        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_evictions_total{result=\"evicted\"} 1.0")
                .contains("gpusharing_reclaim_evictions_total{result=\"refused\"} 1.0")
                .contains("gpusharing_reclaim_evictions_total{result=\"deleted\"} 0.0")
                .contains("gpusharing_reclaim_cost_gpu_seconds_total 90.0");
    }

    @Test
    void evictionsAreCountedByTheirOutcome() {
        metrics.settled(new Outcome(true, ""));

        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_rooms_total{helped=\"true\"} 1.0")
                .contains("gpusharing_reclaim_rooms_total{helped=\"false\"} 0.0");
    }

    @Test
    void waitersAreCountedByReasonUntilTheNextRound() {
        Waiter waiter = Cluster.pod("team-b", "w").waiting(Duration.ofMinutes(1));
        metrics.decided(List.of(new Leave(waiter, Reason.KEPT, "", null, List.of())));
        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_waiting_pods{reason=\"kept\"} 1.0");

        metrics.decided(List.of());
        assertThat(registry.scrape())
                .contains("gpusharing_reclaim_waiting_pods{reason=\"kept\"} 0.0");
    }
}
