package io.gpusharing.timekeeper.budget.grant;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.status.BudgetWatch;
import io.gpusharing.timekeeper.budget.status.QuotaWatch;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrantWatchTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private final FakeApiServer api = new FakeApiServer();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final SteppingClock clock = new SteppingClock(START);
    private final TestDatabase database = TestDatabase.create();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final LedgerWriter writer =
            LedgerWriters.on(
                    database, budgets, new SimpleMeterRegistry(), Leadership.alone(), clock);
    private final GrantWatch watch =
            new GrantWatch(api.client(), budgets, unreadable, writer, Leadership.alone());

    GrantWatchTest() throws IOException {
        api.answer(
                "/gpugrants",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrantList",
                 "metadata": {"resourceVersion": "1"}, "items": []}
                """);
    }

    @AfterEach
    void stop() {
        watch.stop();
        writer.stop();
        api.close();
    }

    private static GpuGrant grant(String uid) {
        var grant = new GpuGrant();
        grant.setMetadata(
                new ObjectMetaBuilder()
                        .withName("more")
                        .withUid(uid)
                        .withCreationTimestamp(START.toString())
                        .build());
        grant.setSpec(new GpuGrant.Spec("a", "10", "paper deadline", null, null));
        return grant;
    }

    private List<String> standing() {
        return database.jdbc()
                .sql("select uid from budget_grant where ended is null order by uid")
                .query((row, number) -> row.getString("uid"))
                .list();
    }

    @Test
    void noBudgetCountsAsExhaustedBeforeTheGrantsAreListed() {
        api.answer(
                "/gpubudgets",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudgetList",
                 "metadata": {"resourceVersion": "1"}, "items": [
                  {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget",
                   "metadata": {"name": "a", "uid": "uid-a", "generation": 1,
                                "creationTimestamp": "2026-03-02T10:00:00Z"},
                   "spec": {"namespaces": ["team-a"], "gpuMinutes": "0"}}]}
                """);
        api.answer(
                "/gpugrants",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrantList",
                 "metadata": {"resourceVersion": "1"}, "items": [
                  {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrant",
                   "metadata": {"name": "more", "uid": "uid-more",
                                "creationTimestamp": "2026-03-02T10:00:00Z"},
                   "spec": {"budget": "a", "gpuMinutes": "10", "reason": "paper deadline"}}]}
                """);
        api.answer(
                "/resourcequotas",
                """
                {"apiVersion": "v1", "kind": "ResourceQuotaList",
                 "metadata": {"resourceVersion": "1"}, "items": []}
                """);
        api.refuse("/gpugrants", 503);
        var quotas = new QuotaWatch(api.client(), budgets, unreadable, writer);
        var all = new BudgetWatch(api.client(), budgets, unreadable, writer, quotas, watch);
        var first = new CompletableFuture<BudgetState>();
        budgets.listen(names -> first.complete(requireNonNull(budgets.states().get("a"))));
        try {
            writer.start();
            quotas.start();
            watch.start();
            all.start();
            writer.onEvent(new Listed(List.of(), Set.of(), "1", false, clock.instant()));
            await().atMost(Duration.ofSeconds(20)).until(() -> api.to("/gpugrants").size() > 2);
            assertThat(first).isNotDone();

            api.allow("/gpugrants");
            assertThat(first).succeedsWithin(Duration.ofSeconds(20));
        } finally {
            all.stop();
            quotas.stop();
        }
        assertThat(first.join().remaining(START)).contains(GpuTime.ofMinutes("10"));
    }

    @Test
    void aGrantThatCannotBeReadDoesNotCountAndHoldsUpNoOther() {
        api.answer(
                "/gpugrants",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrantList",
                 "metadata": {"resourceVersion": "1"}, "items": [%s, %s]}
                """
                        .formatted(
                                stored("odd", "2026-04-01T00:00:00,5Z"),
                                stored("far", "10000-01-01T00:00:00Z")));
        writer.start();
        writer.begin();

        watch.start();

        await().atMost(Duration.ofSeconds(20)).until(() -> !standing().isEmpty());
        assertThat(standing()).containsExactly("far");
        assertThat(unreadable.present()).extracting(it -> it.name()).containsExactly("odd");
    }

    private static String stored(String name, String expires) {
        return """
        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuGrant",
         "metadata": {"name": "%s", "uid": "%s", "creationTimestamp": "2026-03-02T10:00:00Z"},
         "spec": {"budget": "a", "gpuMinutes": "10", "reason": "more", "expiresAt": "%s"}}
        """
                .formatted(name, name, expires);
    }

    @Test
    void aGrantThatWasRecreatedUnobservedCountsOnce() {
        writer.start();
        writer.begin();
        watch.start();
        await().atMost(Duration.ofSeconds(20)).until(watch::isKnown);
        watch.onUpdate(grant("first"));
        await().atMost(Duration.ofSeconds(20)).until(() -> standing().equals(List.of("first")));

        // So a list after a gap shows it.
        watch.onUpdate(grant("second"));

        await().atMost(Duration.ofSeconds(20)).until(() -> standing().contains("second"));
        assertThat(standing()).containsExactly("second");
    }
}
