package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.grant;
import static io.gpusharing.scheduler.testing.BudgetObjects.read;
import static io.gpusharing.scheduler.testing.BudgetObjects.readGrant;
import static io.gpusharing.scheduler.testing.BudgetObjects.word;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownGrants;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Plans of reclaim beside budgets that change, and that may not be believed. */
class OverrunsTest extends EvictingTest {

    private static final String PLAN = "reclaim-000001";

    private final Budgets budgets = new Budgets(clock);
    private final KnownGrants grants = new KnownGrants();

    /** By the path's last part. */
    private final Map<String, ObjectNode> stored = new ConcurrentHashMap<>();

    @BeforeEach
    void aTeamThatIsOverAndOneThatWaits() {
        whatIsKnownIs(budgets);
        cluster.on(
                it -> it.path().contains("/gpubudgets/") || it.path().contains("/leases/"),
                request ->
                        Optional.ofNullable(
                                        stored.get(
                                                request.path()
                                                        .substring(
                                                                request.path().lastIndexOf('/')
                                                                        + 1)))
                                .map(it -> Answer.ok(it.toString()))
                                .orElseGet(() -> Answer.status(404, "not found")));
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        publish(budget("team-a", -60, TEN));
        publish(budget("team-b", 36_000, TEN));
        budgets.onListed();
        grants.onListed();
        says(word(TEN));
    }

    private void whatIsKnownIs(Budgets known) {
        var overruns =
                new Overruns(
                        known,
                        new FreshBudgets(
                                cluster.client(),
                                "gpusharing-system",
                                grants,
                                Optional::empty,
                                unreadable),
                        clock);
        budgetsAreKnown = overruns::areKnown;
        whyNotByBudgets = overruns::whyNot;
    }

    /** The timekeeper publishes a budget, and the watch shows it. */
    private void publish(ObjectNode budget) {
        store(budget);
        budgets.onUpdate(read(budget));
    }

    /** The timekeeper publishes a budget, which the watch does not show yet. */
    private void store(ObjectNode budget) {
        stored.put(budget.at("/metadata/name").asString(), budget);
    }

    private void says(ObjectNode word) {
        stored.put("gpusharing-ledger", word);
    }

    private static boolean isEviction(Request request) {
        return request.path().endsWith("/eviction");
    }

    private static ObjectNode with(String parent, String field, Object value) {
        ObjectNode budget = budget("team-a", -60, TEN);
        budget.withObject(parent).putPOJO(field, value);
        return budget;
    }

    private void assertNobodyGoes(String why) {
        reclaim(PLAN, victim("a"), victim("b"));

        round();

        assertBecame(PLAN, "NotDone", "Spared", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo(why);
        assertThat(cluster.to(OverrunsTest::isEviction)).isEmpty();
        assertThat(cluster.ended).isEmpty();
    }

    @Test
    void beforeBudgetsAndGrantsAreListedAPlanIsNeitherCarriedOutNorGivenUp() {
        whatIsKnownIs(new Budgets(clock));
        reclaim(PLAN, victim("a"), victim("b"));

        round();

        assertThat(cluster.stored(PLAN).getStatus()).isNull();
        assertThat(cluster.to(OverrunsTest::isEviction)).isEmpty();

        whatIsKnownIs(budgets);
        roundAfter(Duration.ofSeconds(5));

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
    }

    @Test
    void whatIsTooLateBeforeTheyAreListedIsGivenUp() {
        whatIsKnownIs(new Budgets(clock));
        reclaim(PLAN, victim("a"));

        roundAfter(Duration.between(TEN, SETTLES));

        assertBecame(PLAN, "NotDone", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("it was too late");
    }

    @Test
    void whoIsOverGoesForWhoIsInBudget() {
        reclaim(PLAN, victim("a"));

        round();

        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void beforeTheDryRunsAndBeforeEachEvictionAllThatIsNeededIsReadOnce() {
        reclaim(PLAN, victim("a"), victim("b"));

        round();

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
        for (String what :
                List.of(
                        "/namespaces/gpusharing-system",
                        "/leases/gpusharing-ledger",
                        "/gpubudgets/team-a",
                        "/gpubudgets/team-b")) {
            assertThat(cluster.to(it -> it.path().endsWith(what))).as(what).hasSize(3);
        }
    }

    @Test
    void aWaiterWithoutABudgetIsUnlimited() {
        budgets.onDelete(read(budget("team-b", 36_000, TEN)));
        reclaim(PLAN, victim("a"));

        round();

        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void nobodyGoesWhoseBudgetIsBackInBudgetSinceThePlan() {
        store(budget("team-a", 60, TEN));

        assertNobodyGoes("budget team-a is InBudget");
    }

    @Test
    void nobodyGoesForAWaiterWhoseBudgetIsUsedUpSinceThePlan() {
        store(budget("team-b", -1, TEN));

        assertNobodyGoes("budget team-b is used up");
    }

    @Test
    void nobodyGoesWhoseBudgetDoesNotWantThatAnyMore() {
        store(with("spec", "onExhausted", "LowerPriority"));

        assertNobodyGoes("budget team-a says onExhausted: LowerPriority");
    }

    @Test
    void whereABudgetOnlyLowersThoseGoThatWereAdmittedOverIt() {
        store(with("spec", "onExhausted", "LowerPriority"));
        String lowered = ", \"lowered\": true";
        reclaim(PLAN, victim("a", lowered), victim("b", lowered));

        round();

        assertBecame(PLAN, "Done", "Evicted", "Evicted");
    }

    @Test
    void whereItOnlyObservesTheyStay() {
        store(with("spec", "onExhausted", "Observe"));
        reclaim(PLAN, victim("a", ", \"lowered\": true"));

        round();

        assertBecame(PLAN, "NotDone", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("budget team-a says onExhausted: Observe");
    }

    @Test
    void nobodyGoesWhileReclaimIsPausedForTheBudget() {
        ObjectNode paused = budget("team-a", -60, TEN);
        paused.withObject("metadata")
                .withObject("annotations")
                .put("gpusharing.io/reclaim-paused", "true");
        store(paused);

        assertNobodyGoes("reclaim is paused for budget team-a");
    }

    /** The planner is told by a watch, which may be late. */
    @Test
    void nobodyGoesOnceReclaimIsPausedForEverybodyThoughItIsPlanned() {
        cluster.annotate("gpusharing-system", "gpusharing.io/reclaim-paused");

        assertNobodyGoes("reclaim is paused");
    }

    @Test
    void whoPaysForAPodOfAnotherBudgetReadsNothingOfThatOne() {
        cluster.pod("team-c", "c");
        publish(budget("team-c", -60, TEN));
        store(budget("team-c", 60, TEN));
        reclaim(PLAN, victim("a"), victim("c").replace("team-a", "team-c"));

        round();

        assertThat(status(PLAN).victims())
                .extracting(GpuEviction.Answer::detail)
                .containsOnly("budgets do not allow it any more");
    }

    @Test
    void nobodyGoesWhoseNamespaceBelongsToAnotherBudgetNow() {
        ObjectNode older = budget("team-z", -60, TEN);
        older.withObject("metadata").put("creationTimestamp", "2026-01-01T00:00:00Z");
        older.withObject("spec").withArray("namespaces").add("team-a");
        publish(older);

        assertNobodyGoes("team-a belongs to budget team-z now");
    }

    @Test
    void nobodyGoesWhoseBudgetWasDeleted() {
        stored.remove("team-a");

        assertNobodyGoes("budget team-a is gone");
    }

    @Test
    void nobodyGoesByAStatusOfAnotherGeneration() {
        store(with("metadata", "generation", 3));

        assertNobodyGoes("budget team-a has been edited since its status was written");
    }

    @Test
    void nobodyGoesByABudgetThatCannotBeRead() {
        store(with("spec", "gpuMinutes", "much"));

        assertNobodyGoes("budget team-a cannot be read");
    }

    @Test
    void nobodyGoesByAStatusOfAClockThatWasAhead() {
        store(budget("team-a", -60, TEN.plusSeconds(3600)));

        assertNobodyGoes(
                "budget team-a was computed by a clock that was ahead, as of 2026-03-02T11:00:00Z");
    }

    @Test
    void oneStatusThatCannotBeWrittenStopsItsOwnAlone() {
        publish(budget("team-c", -60, TEN));
        cluster.pod("team-c", "c");
        says(word(TEN, "team-a"));
        assertNobodyGoes("budget team-a is not published as the ledger has it");

        reclaim("reclaim-000002", victim("c").replace("team-a", "team-c"));
        round();

        assertBecame("reclaim-000002", "Done", "Evicted");
    }

    /**
     * The line of the last status goes on, and by it the budget is used up after half a minute; in
     * truth its pods have ended, and it never is.
     */
    @Test
    void whileTheDatabaseIsAwayForTwoHoursNobodyGoesByTheFrozenLine() {
        publish(budget("team-a", 30, TEN));
        assertThat(askedAt(Duration.ofSeconds(20))).isEqualTo("budget team-a is InBudget");

        for (Duration time = Duration.ofSeconds(91);
                time.compareTo(Duration.ofHours(2)) <= 0;
                time = time.plusMinutes(10)) {
            assertThat(askedAt(time))
                    .isEqualTo("the ledger has not caught up since 2026-03-02T10:00:00Z");
        }
        assertThat(cluster.to(OverrunsTest::isEviction)).isEmpty();

        Instant back = TEN.plus(Duration.ofHours(2));
        says(word(back));
        publish(budget("team-a", 10, back));
        assertThat(askedAt(Duration.ofHours(2))).isEqualTo("budget team-a is InBudget");
    }

    /** Why nobody goes by a plan of that instant. */
    private String askedAt(Duration time) {
        clock.set(TEN.plus(time));
        String name = "reclaim-%06d".formatted(time.toSeconds());
        cluster.store(
                name,
                """
                {"cause": "Reclaim", "node": "%s", "victims": [%s], "settlesAt": "%s",
                 "waiter": %s,
                 "considered": {"spared": {}, "nearest": []}}
                """
                        .formatted(
                                FakeCluster.NODE,
                                victim("a"),
                                clock.instant().plusSeconds(120),
                                WAITER));
        round();
        return String.valueOf(status(name).reason());
    }

    @Test
    void aGrantWhileTheDatabaseIsAwaySavesWhoWouldGo() {
        clock.set(TEN.plusSeconds(80));
        grants.onUpdate(readGrant(grant("more", "team-a", TEN.plusSeconds(70))));

        assertNobodyGoes("budget team-a has a grant that is newer than its status");
    }

    @Test
    void nobodyGoesWhoseBudgetIsBackInBudgetSinceTheDryRun() {
        cluster.once(
                OverrunsTest::isEviction,
                _ -> {
                    store(budget("team-a", 60, TEN));
                    return null;
                });
        reclaim(PLAN, victim("a"), victim("b"));

        round();

        assertBecame(PLAN, "NotDone", "Spared", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("budget team-a is InBudget");
        assertThat(cluster.ended).isEmpty();
    }

    @Test
    void whoHasNotGoneYetStaysOnceTheBudgetIsBackInBudget() {
        cluster.once(
                FakeCluster.inEarnest("a"),
                _ -> {
                    store(budget("team-a", 60, TEN));
                    return null;
                });
        reclaim(PLAN, victim("a"), victim("b"));

        round();

        assertBecame(PLAN, "Done", "Evicted", "Spared");
        assertThat(cluster.ended).containsExactly("a");
    }

    @Test
    void aPlanThatWasLeftInTheMiddleIsNotGoneOnWithOnceTheBudgetIsBackInBudget() {
        cluster.once(FakeCluster.inEarnest("b"), FakeCluster.away());
        reclaim(PLAN, victim("a"), victim("b"));
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        store(budget("team-a", 60, TEN));

        roundAfter(Duration.ofSeconds(6));

        assertBecame(PLAN, "Done", "Evicted", "Spared");
        assertThat(cluster.ended).containsExactly("a");
    }

    @Test
    void whileTheBudgetCannotBeAskedForNobodyGoesAndAfterwardsTheyDo() {
        cluster.once(it -> it.path().endsWith("/gpubudgets/team-a"), FakeCluster.refusal(503));
        reclaim(PLAN, victim("a"));
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        assertThat(cluster.to(OverrunsTest::isEviction)).isEmpty();

        roundAfter(Duration.ofSeconds(6));

        assertBecame(PLAN, "Done", "Evicted");
    }
}
