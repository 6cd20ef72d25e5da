package io.gpusharing.timekeeper.budget.status;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.ledger.store.UnpaidPods;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One namespace has a budget, and two have none. */
class UnpaidWatchTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String EVENTS = "/namespaces/free/events";

    private final FakeApiServer api = new FakeApiServer();
    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "paid"));
    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final BudgetMetrics named = new BudgetMetrics(registry, ledger.budgets(), ledger.clock);
    private final UnpaidWatch watch =
            new UnpaidWatch(
                    new UnpaidPods(ledger.database.rows()),
                    registry,
                    named,
                    api.client(),
                    Leadership.alone(),
                    ledger.clock);
    private final Pods first = Pods.waiting("free", 50, 0).boundAt(TEN);

    UnpaidWatchTest() throws IOException {
        ledger.onUpdate(Pods.waiting("paid", 100, 0).boundAt(TEN));
        ledger.onUpdate(first);
        ledger.clock.pass(Duration.ofSeconds(1));
        ledger.onUpdate(Pods.waiting("free", 100, 0).boundAt(TEN.plusSeconds(1)));
        ledger.onUpdate(Pods.waiting("else", 200, 0).boundAt(TEN));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void after(Duration time) {
        ledger.clock.pass(time);
        watch.work(ledger.clock.instant());
    }

    @Test
    void whoHoldsGpusWithoutABudgetIsNamedWhereMetricsMayHaveNames() {
        after(Duration.ofSeconds(2));

        assertThat(named.page())
                .contains("gpusharing_namespace_unpaid_gpus{namespace=\"free\"} 1.5")
                .contains("gpusharing_namespace_unpaid_gpus{namespace=\"else\"} 2.0")
                .doesNotContain("unpaid_gpus{namespace=\"paid\"}");
        assertThat(registry.scrape())
                .contains("gpusharing_unpaid_namespaces 2.0", "gpusharing_unpaid_gpus 3.5")
                .doesNotContain("free", "else");
    }

    @Test
    void whatTheyUseIsACounter() {
        after(Duration.ofSeconds(2));
        after(Duration.ofSeconds(10));

        assertThat(registry.scrape()).contains("gpusharing_unpaid_gpu_seconds_total 35.0");
    }

    @Test
    void whoHasEndedOrGotABudgetIsNamedNoMore() {
        after(Duration.ofSeconds(2));
        ledger.exist(monthly("a", TEN, "1000", "paid"), monthly("b", TEN, "1000", "else"));
        ledger.onUpdate(first.finishedAt(TEN.plusSeconds(2)));
        after(Duration.ofSeconds(2));

        assertThat(named.page())
                .contains("gpusharing_namespace_unpaid_gpus{namespace=\"free\"} 1.0")
                .doesNotContain("unpaid_gpus{namespace=\"else\"}");
    }

    @Test
    void anEventSaysItOnTheOldestPodOfEachNamespaceOnceADay() {
        after(Duration.ofSeconds(2));
        after(Duration.ofSeconds(15));

        assertThat(api.to(EVENTS))
                .singleElement()
                .extracting(Asked::body)
                .asString()
                .contains(
                        first.uid().toString(),
                        "NoBudget",
                        "No budget names the namespace free: what its pods use of GPUs is counted");
        assertThat(api.created("/namespaces/paid/events")).isZero();

        after(Duration.ofDays(1));
        assertThat(api.to(EVENTS)).hasSize(2);
    }

    @Test
    void anEventThatCannotBeWrittenIsWrittenLater() {
        api.refuse(EVENTS, 500);
        after(Duration.ofSeconds(2));
        api.allow(EVENTS);
        after(Duration.ofSeconds(15));

        assertThat(api.created(EVENTS)).isEqualTo(1);
        assertThat(api.created("/namespaces/else/events")).isEqualTo(1);
    }

    @Test
    void anEventThatIsRefusedIsNotWrittenOnTheSameDay() {
        api.refuse(EVENTS, 403);
        after(Duration.ofSeconds(2));
        api.allow(EVENTS);
        after(Duration.ofSeconds(15));

        assertThat(api.created(EVENTS)).isZero();
        assertThat(api.created("/namespaces/else/events")).isEqualTo(1);
    }
}
