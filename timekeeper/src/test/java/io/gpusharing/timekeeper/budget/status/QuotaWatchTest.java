package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.grant.GrantWatch;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaWatchTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private final FakeApiServer api = new FakeApiServer();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final SteppingClock clock = new SteppingClock(START);
    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final Ledger ledger = LedgerWriters.ledger(database);
    private final LedgerWriter writer =
            LedgerWriters.on(
                    database, budgets, new SimpleMeterRegistry(), Leadership.alone(), clock);
    private final QuotaWatch quotas = new QuotaWatch(api.client(), budgets, unreadable, writer);
    private final GrantWatch grants =
            new GrantWatch(api.client(), budgets, unreadable, writer, Leadership.alone());
    private final BudgetWatch watch =
            new BudgetWatch(api.client(), budgets, unreadable, writer, quotas, grants);

    QuotaWatchTest() throws IOException {
        api.answer(
                "/gpubudgets",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudgetList",
                 "metadata": {"resourceVersion": "1"}, "items": [
                  {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget",
                   "metadata": {"name": "a", "uid": "uid-a", "generation": 1,
                                "creationTimestamp": "2026-03-02T10:00:00Z"},
                   "spec": {"namespaces": ["team-a"], "gpuMinutes": "100",
                            "share": {"formula": "Max", "reference": "FromQuota"}}}]}
                """);
        api.answer(
                "/gpugrants",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrantList",
                 "metadata": {"resourceVersion": "1"}, "items": []}
                """);
        quota("50", "30");
    }

    @AfterEach
    void stop() {
        watch.stop();
        grants.stop();
        quotas.stop();
        writer.stop();
        api.close();
    }

    @Test
    void nothingIsChargedBeforeTheReferencedQuotasAreListed() {
        ledger.open(START);
        api.refuse("/resourcequotas", 503);
        writer.start();
        quotas.start();
        grants.start();
        watch.start();
        var pod = Pods.waiting("team-a", 25, 15).boundAt(START);
        clock.pass(Duration.ofMinutes(1));
        writer.onEvent(new Listed(List.of(pod.facts()), Set.of(), "1", false, clock.instant()));

        // Time enough to charge it wrongly.
        await().atMost(Duration.ofSeconds(20)).until(() -> api.to("/resourcequotas").size() > 2);
        assertThat(ledger.openAllocations()).isEmpty();

        api.allow("/resourcequotas");
        await().atMost(Duration.ofSeconds(20)).until(() -> !ledger.openAllocations().isEmpty());
        assertThat(ledger.openAllocations())
                .singleElement()
                .matches(
                        allocation -> allocation.rate() == 500_000, "half of what the quota allows")
                .matches(
                        allocation -> allocation.postedUntil().equals(START),
                        "charged so from its begin");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5E", "9e999", "-1", "1e-400", "4x"})
    void aQuotaThatLimitsNothingStopsNoCharge(String amount) {
        quota(amount, amount);
        ledger.open(START);
        writer.start();
        quotas.start();
        grants.start();
        watch.start();
        var pod = Pods.waiting("team-a", 25, 15).boundAt(START);
        var bystander = Pods.waiting("team-b", 25, 15).boundAt(START);
        clock.pass(Duration.ofMinutes(1));

        writer.onEvent(
                new Listed(
                        List.of(pod.facts(), bystander.facts()),
                        Set.of(),
                        "1",
                        false,
                        clock.instant()));

        await().atMost(Duration.ofSeconds(20)).until(() -> ledger.openAllocations().size() == 2);
    }

    private void quota(String compute, String memory) {
        api.answer(
                "/resourcequotas",
                """
                {"apiVersion": "v1", "kind": "ResourceQuotaList",
                 "metadata": {"resourceVersion": "1"}, "items": [
                  {"apiVersion": "v1", "kind": "ResourceQuota",
                   "metadata": {"name": "gpus", "namespace": "team-a", "uid": "uid-q"},
                   "spec": {"hard": {"requests.tencent.com/vcuda-core": "%s",
                                     "requests.tencent.com/vcuda-memory": "%s"}}}]}
                """
                        .formatted(compute, memory));
    }
}
