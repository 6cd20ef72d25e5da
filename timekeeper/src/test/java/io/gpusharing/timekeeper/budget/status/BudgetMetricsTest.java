package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a scrape shows of a budget of ten minutes on which half a GPU has run for four. */
class BudgetMetricsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestDatabase database = TestDatabase.create();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private BudgetMetrics metrics;

    @BeforeEach
    void runForFourMinutes() {
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('test', '2026-03-01T00:00:00Z')")
                .update();
        metrics = new BudgetMetrics(registry, budgets, clock);
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("a", TEN, "10", "team-a", "dev")));
        budgets.restored(List.of(half("team-a")));
        budgets.upToDate(TEN);
        clock.set(TEN.plus(Duration.ofMinutes(4)));
    }

    private static PodAllocation half(String namespace) {
        return OpenAllocation.of(namespace, "a", 500_000, new GpuShare(500_000, 500_000), TEN);
    }

    @Test
    void aBudgetIsShownInGpuSecondsAsOfTheVeryMoment() {
        assertThat(metrics.page())
                .contains("gpusharing_budget_used_gpu_seconds{budget=\"a\"} 120.0")
                .contains("gpusharing_budget_granted_gpu_seconds{budget=\"a\"} 600.0")
                .contains("gpusharing_budget_rate_gpus{budget=\"a\"} 0.5")
                .contains("gpusharing_budget_over{budget=\"a\"} 0.0");
    }

    @Test
    void itsExhaustionIsShownInAdvance() {
        double end = TEN.plus(Duration.ofMinutes(20)).getEpochSecond();

        assertThat(metrics.page())
                .contains("gpusharing_budget_exhaustion_timestamp_seconds{budget=\"a\"} " + end);
        clock.set(TEN.plus(Duration.ofMinutes(21)));
        assertThat(metrics.page()).contains("gpusharing_budget_over{budget=\"a\"} 1.0");
    }

    @Test
    void itsNamespacesAreShownBesideIt() {
        assertThat(metrics.page())
                .contains(
                        "gpusharing_namespace_used_gpu_seconds{budget=\"a\",namespace=\"team-a\"} 120.0")
                .contains("gpusharing_namespace_rate_gpus{budget=\"a\",namespace=\"team-a\"} 0.5");
    }

    @Test
    void aDeletedBudgetIsNotShown() {
        TestBudgets.exist(budgets, List.of());
        budgets.upToDate(clock.instant());

        assertThat(metrics.page()).doesNotContain("budget=\"a\"");
    }

    /** Every pod of the cluster reads this service's other metrics. */
    @Test
    void amongTheMetricsOfTheServiceAreNumbersAlone() {
        assertThat(registry.scrape())
                .contains("gpusharing_budgets 1.0", "gpusharing_budgets_over 0.0")
                .doesNotContain("budget=", "namespace=");
        clock.set(TEN.plus(Duration.ofMinutes(21)));
        assertThat(registry.scrape()).contains("gpusharing_budgets_over 1.0");
    }

    @Test
    void whatANamespaceUsesIsACounterToo() {
        assertThat(metrics.page())
                .contains(
                        "gpusharing_namespace_gpu_seconds_total{budget=\"a\",namespace=\"team-a\"} 120.0");
    }
}
