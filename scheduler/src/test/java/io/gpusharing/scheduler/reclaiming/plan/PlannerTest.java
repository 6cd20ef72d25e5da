package io.gpusharing.scheduler.reclaiming.plan;

import static io.gpusharing.scheduler.reclaiming.Cluster.NOON;
import static io.gpusharing.scheduler.reclaiming.Cluster.RULES;
import static io.gpusharing.scheduler.reclaiming.Cluster.overrun;
import static io.gpusharing.scheduler.reclaiming.Cluster.pod;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.Standing;
import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Candidate;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class PlannerTest {

    private static final Duration A_MINUTE = Duration.ofMinutes(1);
    private static final Duration HALF_A_MINUTE = Duration.ofSeconds(30);

    /** One node, both GPUs held by pods of a budget that is over by 5 minutes. */
    private static Cluster full() {
        return new Cluster()
                .node("n1")
                .within("team-b")
                .over("team-a", 5)
                .runs(pod("team-a", "old").gpus(1).on("n1", 0))
                .runs(pod("team-a", "new").gpus(1).age(Duration.ofMinutes(20)).on("n1", 1));
    }

    @Test
    void evictsTheNewestPodOfABudgetThatIsOverForOneInBudget() {
        Cluster cluster = full().waits(pod("team-b", "w").gpus(1).waiting(HALF_A_MINUTE));

        assertThat(victims(cluster.decide())).containsExactly("new");
    }

    @Test
    void recordsTheReasonAndTheCost() {
        Cluster cluster = full().waits(pod("team-b", "w").gpus(1).waiting(HALF_A_MINUTE));

        Victim victim = ((Evict) cluster.decide()).victims().getFirst();

        assertThat(victim.why()).contains("budget team-a is over by 5.000 GPU-minutes");
        assertThat(victim.cost()).isEqualTo(20 * 60 * 1_000_000L);
    }

    @Test
    void evictsFromTheMostOverdrawnBudgetFirst() {
        Cluster cluster =
                full().node("n2")
                        .over("team-c", 50)
                        .runs(pod("team-c", "x").gpus(1).on("n2", 0))
                        .runs(pod("team-c", "y").gpus(1).age(Duration.ofHours(2)).on("n2", 1))
                        .waits(pod("team-b", "w").gpus(1).waiting(HALF_A_MINUTE));

        assertThat(victims(cluster.decide())).containsExactly("x");
    }

    @Test
    void takesNoMoreThanTheWaiterNeeds() {
        Cluster cluster =
                new Cluster()
                        .node("n1")
                        .within("team-b")
                        .over("team-a", 5)
                        .over("team-c", 9)
                        .runs(pod("team-c", "small").share(20, 5).on("n1", 0))
                        .runs(pod("team-a", "large").share(80, 40).on("n1", 0))
                        .runs(pod("team-d", "other").gpus(1).on("n1", 1))
                        .waits(pod("team-b", "w").share(60, 30).waiting(HALF_A_MINUTE));

        // "small" comes first in order, but only "large" frees enough.
        assertThat(victims(cluster.decide())).containsExactly("large");
    }

    @Test
    void evictsSeveralPodsWhereOneIsNotEnough() {
        Cluster cluster = full().waits(pod("team-b", "w").gpus(2).waiting(HALF_A_MINUTE));

        assertThat(victims(cluster.decide())).containsExactlyInAnyOrder("old", "new");
    }

    @Test
    void ofTwoNodesItTakesTheOneWhereFewerHaveToGo() {
        Cluster cluster =
                new Cluster()
                        .node("n1")
                        .node("n2")
                        .within("team-b")
                        .over("team-a", 5)
                        .over("team-c", 50)
                        .runs(pod("team-c", "alone").gpus(1).on("n1", 0))
                        .runs(pod("team-a", "w0").gpus(1).gang("job").on("n1", 1))
                        .runs(pod("team-a", "w1").gpus(1).gang("job").on("n2", 0))
                        .waits(pod("team-b", "w").gpus(2).waiting(HALF_A_MINUTE));

        // When the job goes, it fits on both; on n1 only because "alone" went before.
        assertThat(victims(cluster.decide())).containsExactly("w0", "w1");
    }

    @Test
    void servesANamespaceThatNoBudgetLimits() {
        Cluster cluster = full().waits(pod("free", "w").gpus(1).waiting(HALF_A_MINUTE));

        assertThat(cluster.decide()).isInstanceOf(Evict.class);
    }

    @Test
    void treatsRefuseAsReclaim() {
        Cluster cluster =
                full().budget("team-a", overrun(5), OnExhausted.Refuse, false)
                        .waits(pod("team-b", "w").gpus(1).waiting(HALF_A_MINUTE));

        assertThat(cluster.decide()).isInstanceOf(Evict.class);
    }

    @Nested
    class LeavesEverybodyAlone {

        @Test
        void whenReclaimIsPaused() {
            Rules paused =
                    new Rules(
                            RULES.patience(),
                            RULES.schedulerPatience(),
                            RULES.settle(),
                            10,
                            RULES.noReturn(),
                            RULES.maxGrace(),
                            null,
                            true);
            Cluster cluster = full().waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide(paused))).isEqualTo(Reason.PAUSED);
        }

        @Test
        void whileTheWaiterHasAGate() {
            Cluster cluster = full().waits(pod("team-b", "w").gpus(1).gated().waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.GATED);
        }

        @Test
        void whileTheSchedulerPreemptsItself() {
            Cluster cluster =
                    full().waits(pod("team-b", "w").gpus(1).nominated("n1").waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.NOMINATED);
        }

        @Test
        void beforeTheWaiterHasWaitedLongEnough() {
            Cluster cluster =
                    full().waits(pod("team-b", "w").gpus(1).waiting(Duration.ofMillis(9_999)));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.TOO_EARLY);
        }

        @Test
        void forAWaiterThatIsOverBudgetItself() {
            Cluster cluster =
                    full().over("team-b", 1).waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.WAITER_OVER_BUDGET);
        }

        @Test
        void forAWaiterWhoseBudgetIsInDoubt() {
            Cluster cluster =
                    full().doubted("team-b", "budget team-b cannot be read")
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.CANNOT_JUDGE);
        }

        @Test
        void forAWaiterWhoseConstraintsCannotBeEvaluated() {
            Cluster cluster =
                    full().waits(
                                    pod("team-b", "w")
                                            .gpus(1)
                                            .unjudged("required pod affinity")
                                            .waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.CANNOT_JUDGE);
        }

        @Test
        void whenNoNodeIsLargeEnough() {
            Cluster cluster = full().waits(pod("team-b", "w").gpus(3).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.NO_NODE);
        }

        @Test
        void whenTheWaiterFitsAlready() {
            Cluster cluster = full().node("n2").waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.FITS);
        }

        @Test
        void whenTerminatingPodsFreeEnough() {
            Cluster cluster =
                    full().node("n2")
                            .runs(pod("team-d", "d").gpus(2).leaving().on("n2", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.FREEING);
        }

        @Test
        void whenItWouldNotHelp() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-a", "a").gpus(1).on("n1", 0))
                            .runs(pod("team-d", "d").gpus(1).on("n1", 1))
                            .waits(pod("team-b", "w").gpus(2).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.WOULD_NOT_FIT);
        }

        @Test
        void whenSomethingElseThanTheGpuIsShort() {
            Cluster cluster =
                    full().runs(pod("team-d", "cpu-hog").share(0, 0).cpus(13).on("n1"))
                            .waits(pod("team-b", "w").gpus(1).cpus(4).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.WOULD_NOT_FIT);
        }

        @Test
        void onNodesThatDoNotAdmitTheWaiter() {
            Cluster cluster =
                    new Cluster()
                            .node("n1", new Taint("NoSchedule", "dedicated", null, "team-a"))
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-a", "a").gpus(1).on("n1", 0))
                            .waits(pod("team-b", "w").gpus(2).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.NO_NODE);
        }
    }

    @Nested
    class TheSchedulersBusiness {

        private Cluster weak(Duration waiting) {
            return new Cluster()
                    .node("n1")
                    .within("team-b")
                    .over("team-a", 5)
                    .runs(pod("team-a", "weak").gpus(2).priority(-100).on("n1", 0, 1))
                    .waits(pod("team-b", "w").gpus(1).waiting(waiting));
        }

        @Test
        void podsOfLowerPriorityArePreemptedByTheScheduler() {
            assertThat(reason(weak(HALF_A_MINUTE).decide())).isEqualTo(Reason.LEFT_TO_SCHEDULER);
        }

        @Test
        void isReclaimedWhenTheSchedulerDidNotPreemptForLong() {
            assertThat(victims(weak(A_MINUTE).decide())).containsExactly("weak");
        }

        /** kube-scheduler ends the pods of one node, and so leaves a gang of two alone. */
        @Test
        void aGangOnTwoNodesThatWasAdmittedOverBudgetGoesWhereTheBudgetOnlyLowers() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .node("n2")
                            .within("team-b")
                            .budget("team-a", Cluster.overrun(5), OnExhausted.LowerPriority, false)
                            .runs(pod("team-a", "x0").gpus(2).gang("x").lowered().on("n1", 0, 1))
                            .runs(pod("team-a", "x1").gpus(2).gang("x").lowered().on("n2", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(victims(cluster.decide())).containsExactlyInAnyOrder("x0", "x1");
        }

        @Test
        void isReclaimedWhenTheWaiterMayNotPreempt() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-a", "weak").gpus(2).priority(-100).on("n1", 0, 1))
                            .waits(
                                    pod("team-b", "w")
                                            .gpus(1)
                                            .neverPreempts()
                                            .waiting(HALF_A_MINUTE));

            assertThat(victims(cluster.decide())).containsExactly("weak");
        }

        @Test
        void isNoSolutionForCapacityFragmentedAcrossGpus() {
            // By the node's totals 60 + 30 fit; they fit on no single GPU.
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-a", "a0").share(50, 30).priority(-100).on("n1", 0))
                            .runs(pod("team-d", "d1").share(50, 30).on("n1", 1))
                            .waits(pod("team-b", "w").share(60, 30).waiting(HALF_A_MINUTE));

            assertThat(victims(cluster.decide())).containsExactly("a0");
        }
    }

    @Nested
    class PerGpu {

        @Test
        void choosesThePodOnTheGpuThatCanBecomeFree() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-d", "d0").share(30, 10).on("n1", 0))
                            .runs(
                                    pod("team-a", "a0")
                                            .share(60, 20)
                                            .age(Duration.ofMinutes(6))
                                            .on("n1", 0))
                            .runs(pod("team-a", "a1").share(60, 20).on("n1", 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(victims(cluster.decide())).containsExactly("a1");
        }

        @Test
        void usesTheNodesTotalsWhereTheGpuIsUnknown() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-d", "d").share(80, 10).placementUnknown().on("n1"))
                            .runs(pod("team-a", "a").share(80, 20).on("n1", 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(victims(cluster.decide())).containsExactly("a");
        }
    }

    @Nested
    class Spares {

        @Test
        void podsOfBudgetsThatOnlyObserveOrLowerPriority() {
            for (OnExhausted mild : List.of(OnExhausted.Observe, OnExhausted.LowerPriority)) {
                Cluster cluster =
                        full().budget("team-a", overrun(5), mild, false)
                                .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

                assertThat(spared(cluster.decide()))
                        .containsOnly("its budget says onExhausted: " + mild);
            }
        }

        @Test
        void podsOfBudgetsWithTimeLeft() {
            Cluster cluster =
                    full().within("team-a").waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide())).containsOnly("its budget is InBudget");
        }

        @Test
        void podsOfUnlimitedBudgets() {
            Cluster cluster =
                    full().budget("team-a", new Standing.Unlimited(), OnExhausted.Reclaim, false)
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide())).containsOnly("its budget is Unlimited");
        }

        @Test
        void podsOfPausedBudgets() {
            Cluster cluster =
                    full().budget("team-a", overrun(5), OnExhausted.Reclaim, true)
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide())).containsOnly("reclaim is paused for its budget");
        }

        @Test
        void podsOfBudgetsThatAreInDoubt() {
            Cluster cluster =
                    full().doubted("team-a", "budget team-a cannot be read")
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide())).containsOnly("what its budget says is in doubt");
        }

        @Test
        void podsWithinTheirMinimumRunTime() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(
                                    pod("team-a", "young")
                                            .gpus(2)
                                            .age(Duration.ofMinutes(4))
                                            .on("n1", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide()))
                    .containsOnly("its minimum run time ends at 2026-03-02T12:01:00Z");
            cluster.now = NOON.plusSeconds(59);
            assertThat(cluster.decide()).isInstanceOf(Leave.class);
            cluster.now = NOON.plusSeconds(60);
            assertThat(victims(cluster.decide())).containsExactly("young");
        }

        @Test
        void exemptPods() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(
                                    pod("team-a", "a")
                                            .gpus(2)
                                            .exempt("an administrator says so")
                                            .on("n1", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide())).containsOnly("an administrator says so");
        }

        @Test
        void podsThatADisruptionBudgetHolds() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .disruptionBudget("team-a/pdb", 0)
                            .runs(
                                    pod("team-a", "a")
                                            .gpus(2)
                                            .protectedBy("team-a/pdb")
                                            .on("n1", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide()))
                    .containsOnly("PodDisruptionBudget team-a/pdb lets nobody go now");
        }

        @Test
        void morePodsThanADisruptionBudgetLetsGoAtOnce() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .disruptionBudget("team-a/pdb", 1)
                            .runs(pod("team-a", "a0").gpus(1).protectedBy("team-a/pdb").on("n1", 0))
                            .runs(pod("team-a", "a1").gpus(1).protectedBy("team-a/pdb").on("n1", 1))
                            .waits(pod("team-b", "w").gpus(2).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.KEPT);
        }

        @Test
        void podsThatSeveralDisruptionBudgetsSelect() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .disruptionBudget("team-a/one", 5)
                            .disruptionBudget("team-a/two", 5)
                            .runs(
                                    pod("team-a", "a")
                                            .gpus(2)
                                            .protectedBy("team-a/one", "team-a/two")
                                            .on("n1", 0, 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.KEPT);
            assertThat(spared(cluster.decide()))
                    .containsOnly(
                            "2 PodDisruptionBudgets select it, which the Eviction API does not"
                                    + " support");
        }

        @Test
        void anUnprotectedPodIsStillEvictedBesideAProtectedOne() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .disruptionBudget("team-a/pdb", 1)
                            .runs(
                                    pod("team-a", "small")
                                            .share(40, 20)
                                            .age(Duration.ofMinutes(20))
                                            .protectedBy("team-a/pdb")
                                            .on("n1", 0))
                            .runs(pod("team-c", "other").share(50, 20).on("n1", 0))
                            .runs(
                                    pod("team-a", "large")
                                            .gpus(1)
                                            .protectedBy("team-a/pdb")
                                            .on("n1", 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            // "small" comes first and would use up what the PodDisruptionBudget allows, in vain.
            assertThat(victims(cluster.decide())).containsExactly("large");
        }
    }

    @Nested
    class WhomADisruptionBudgetKeeps {

        private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
        private final Rules insisting =
                new Rules(
                        RULES.patience(),
                        RULES.schedulerPatience(),
                        RULES.settle(),
                        10,
                        RULES.noReturn(),
                        RULES.maxGrace(),
                        TEN_MINUTES,
                        false);
        private final Waiter waiter = pod("team-b", "w").gpus(1).waiting(Duration.ofHours(1));

        private Cluster kept() {
            return new Cluster()
                    .node("n1")
                    .within("team-b")
                    .over("team-a", 5)
                    .disruptionBudget("team-a/pdb", 0)
                    .runs(pod("team-a", "a").gpus(2).protectedBy("team-a/pdb").on("n1", 0, 1))
                    .waits(waiter);
        }

        @Test
        void isNeverDeletedWithoutInsistAfter() {
            Cluster cluster = kept().refused(waiter, "team-a-a", NOON.minus(Duration.ofDays(3)));

            assertThat(cluster.decide())
                    .isInstanceOfSatisfying(
                            Leave.class,
                            it -> {
                                assertThat(it.reason()).isEqualTo(Reason.KEPT);
                                assertThat(it.detail())
                                        .isEqualTo(
                                                "it would fit on n1 without team-a/a, which may not go"
                                                        + " now");
                            });
        }

        @Test
        void itsEvictionIsRequestedFirst() {
            assertThat(kept().decide(insisting))
                    .isInstanceOfSatisfying(
                            Evict.class,
                            it ->
                                    assertThat(it.victims())
                                            .extracting(Victim::refusedSince)
                                            .containsOnlyNulls());
        }

        @Test
        void isNotDeletedBeforeInsistAfterHasElapsed() {
            Cluster cluster = kept().refused(waiter, "team-a-a", NOON.minusSeconds(599));

            assertThat(cluster.decide(insisting))
                    .isInstanceOfSatisfying(
                            Leave.class,
                            it ->
                                    assertThat(it.detail())
                                            .endsWith("it is deleted after 2026-03-02T12:00:01Z"));
            cluster.now = NOON.plusSeconds(1);
            assertThat(cluster.decide(insisting))
                    .isInstanceOfSatisfying(
                            Evict.class,
                            it ->
                                    assertThat(it.victims())
                                            .extracting(Victim::refusedSince)
                                            .containsExactly(NOON.minusSeconds(599)));
        }

        @Test
        void itsEvictionIsNotRequestedAgainRightAfterARefusal() {
            Cluster cluster =
                    kept().refused(waiter, "team-a-a", NOON.minus(Duration.ofHours(1)))
                            .refused(waiter, "team-a-a", NOON.minusSeconds(1));

            assertThat(reason(cluster.decide(insisting))).isEqualTo(Reason.KEPT);
            cluster.now = NOON.plus(Duration.ofMinutes(2));
            assertThat(victims(cluster.decide(insisting))).containsExactly("a");
        }

        @Test
        void isDeletedAloneAndItsGangIsEvicted() {
            Instant refused = NOON.minus(Duration.ofHours(1));
            Cluster cluster = ofTwo(2).refused(waiter, "team-a-a", refused);

            assertThat(((Evict) cluster.decide(insisting)).victims())
                    .extracting(it -> it.pod().name(), Victim::refusedSince)
                    .containsExactlyInAnyOrder(tuple("a", refused), tuple("free", null));
        }

        @Test
        void ofSeveralTheOneThatWasRefusedLastCounts() {
            Cluster cluster =
                    ofTwo(0).refused(waiter, "team-a-a", NOON.minus(Duration.ofHours(1)))
                            .refused(waiter, "team-a-free", NOON.minusSeconds(599));

            assertThat(reason(cluster.decide(insisting))).isEqualTo(Reason.KEPT);
            cluster.now = NOON.plusSeconds(1);
            assertThat(victims(cluster.decide(insisting))).containsExactlyInAnyOrder("a", "free");
        }

        /** Both have to go; the second's own PodDisruptionBudget lets so many go. */
        private Cluster ofTwo(int allowed) {
            return new Cluster()
                    .node("n1")
                    .within("team-b")
                    .over("team-a", 5)
                    .disruptionBudget("team-a/pdb", 0)
                    .disruptionBudget("team-a/other", allowed)
                    .runs(pod("team-a", "a").gpus(1).protectedBy("team-a/pdb").on("n1", 0))
                    .runs(pod("team-a", "free").gpus(1).protectedBy("team-a/other").on("n1", 1))
                    .waits(pod("team-b", "w").gpus(2).waiting(Duration.ofHours(1)));
        }

        @Test
        void isNotDeletedBecauseOfRefusalsToAnotherWaiter() {
            Waiter other = pod("team-b", "other").gpus(1).waiting(A_MINUTE);
            Cluster cluster = kept().refused(other, "team-a-a", NOON.minus(Duration.ofHours(1)));

            assertThat(cluster.decide(insisting))
                    .isInstanceOfSatisfying(
                            Evict.class,
                            it ->
                                    assertThat(it.victims())
                                            .extracting(Victim::refusedSince)
                                            .containsOnlyNulls());
        }

        @Test
        void isNotDeletedAsLongAsAnotherPodCanBeEvicted() {
            Cluster cluster =
                    kept().refused(waiter, "team-a-a", NOON.minus(Duration.ofHours(1)))
                            .node("n2")
                            .runs(pod("team-a", "free").gpus(2).on("n2", 0, 1));

            assertThat(victims(cluster.decide(insisting))).containsExactly("free");
        }

        @Test
        void itsEvictionIsNotRequestedEverySecond() {
            Cluster cluster =
                    full().refused(waiter, "team-a-new", NOON.minusSeconds(30)).waits(waiter);

            // The API server's answer decides where the status of a PodDisruptionBudget does not:
            // another pod is evicted.
            assertThat(victims(cluster.decide())).containsExactly("old");
            cluster.refused(waiter, "team-a-old", NOON);
            assertThat(reason(cluster.decide())).isEqualTo(Reason.KEPT);
            cluster.now = NOON.plusSeconds(30);
            assertThat(victims(cluster.decide())).containsExactly("new");
        }
    }

    @Nested
    class Gangs {

        private Cluster job(Duration ageOfTheSecond) {
            return new Cluster()
                    .node("n1")
                    .node("n2")
                    .within("team-b")
                    .over("team-a", 5)
                    .runs(pod("team-a", "w0").gpus(2).gang("job").on("n1", 0, 1))
                    .runs(
                            pod("team-a", "w1")
                                    .gpus(2)
                                    .gang("job")
                                    .age(ageOfTheSecond)
                                    .on("n2", 0, 1))
                    .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));
        }

        @Test
        void areEvictedAsAWhole() {
            assertThat(victims(job(Duration.ofHours(1)).decide())).containsExactly("w0", "w1");
        }

        @Test
        void areAsNewAsTheirNewestPod() {
            Cluster cluster =
                    job(Duration.ofMinutes(10))
                            .node("n3")
                            .runs(
                                    pod("team-a", "alone")
                                            .gpus(2)
                                            .age(Duration.ofMinutes(30))
                                            .on("n3", 0, 1));

            assertThat(victims(cluster.decide())).containsExactly("w0", "w1");
        }

        @Test
        void areNotSparedByAddingANewPod() {
            assertThat(victims(job(Duration.ofMinutes(1)).decide())).containsExactly("w0", "w1");
        }

        @Test
        void areSparedAsAWholeWhenOneMemberIsExempt() {
            Cluster cluster =
                    new Cluster()
                            .node("n1")
                            .within("team-b")
                            .over("team-a", 5)
                            .runs(pod("team-a", "w0").gpus(1).gang("job").on("n1", 0))
                            .runs(
                                    pod("team-a", "w1")
                                            .gpus(1)
                                            .gang("job")
                                            .exempt("an administrator says so")
                                            .on("n1", 1))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide()))
                    .contains(
                            "goes only together with team-a/w1, which stays: an administrator says so");
        }
    }

    @Nested
    class AfterAnEviction {

        private PastEviction earlier(String waiter, Duration ago, boolean helped) {
            Instant at = NOON.minus(ago);
            return new PastEviction(
                    "plan-" + ago,
                    at,
                    at.plus(A_MINUTE),
                    new PodRef("team-b-" + waiter, "team-b", waiter),
                    "deployment",
                    "team-b",
                    "team-a",
                    "n1",
                    true,
                    helped);
        }

        private Waiter waiter(String name) {
            return pod("team-b", name).gpus(1).workload("deployment").waiting(Duration.ofHours(1));
        }

        @Test
        void theWaiterHasAMinuteToUseTheReservation() {
            Cluster cluster = full().before(earlier("w", HALF_A_MINUTE, false)).waits(waiter("w"));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.SETTLING);
        }

        @Test
        void anotherPodOfItsWorkloadIsServedMeanwhile() {
            Cluster cluster = full().before(earlier("w", HALF_A_MINUTE, false)).waits(waiter("w2"));

            assertThat(victims(cluster.decide())).containsExactly("new");
        }

        @Test
        void itsWorkloadBacksOffWhenItWasInVain() {
            Cluster cluster =
                    full().before(earlier("w", Duration.ofSeconds(90), false)).waits(waiter("w2"));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.BACKING_OFF);
            cluster.now = NOON.plusSeconds(30);
            assertThat(cluster.decide()).isInstanceOf(Evict.class);
        }

        @Test
        void itsWorkloadBacksOffTwiceAsLongAfterTheSecond() {
            Cluster cluster =
                    full().before(earlier("w", Duration.ofMinutes(5), false))
                            .before(earlier("w", Duration.ofMinutes(2), false))
                            .waits(waiter("w"));

            assertThat(reason(cluster.decide())).isEqualTo(Reason.BACKING_OFF);
            cluster.now = NOON.plusSeconds(60);
            assertThat(cluster.decide()).isInstanceOf(Evict.class);
        }

        @Test
        void anEvictionThatHelpedIsNoReasonToWait() {
            Cluster cluster = full().before(earlier("w", HALF_A_MINUTE, true)).waits(waiter("w2"));

            assertThat(cluster.decide()).isInstanceOf(Evict.class);
        }

        @Test
        void freedCapacityIsReservedForItsWaiter() {
            Cluster cluster =
                    full().node("n2")
                            .before(promised("n2"))
                            .waits(pod("team-b", "first").gpus(2).priority(1).waiting(A_MINUTE))
                            .waits(pod("team-b", "second").gpus(1).waiting(A_MINUTE));

            List<Decision> decisions =
                    new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

            assertThat(reason(decisions.getFirst())).isEqualTo(Reason.SETTLING);
            assertThat(victims(decisions.getLast())).containsExactly("new");
        }

        @Test
        void capacityIsReservedByTheNodesTotalsWhereTheGpuIsUnknown() {
            Cluster cluster =
                    full().node("n2")
                            .runs(pod("team-d", "x").gpus(1).placementUnknown().on("n2"))
                            .before(promised("n2"))
                            .waits(pod("team-b", "first").gpus(1).priority(1).waiting(A_MINUTE))
                            .waits(pod("team-b", "second").gpus(1).waiting(A_MINUTE));

            List<Decision> decisions =
                    new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

            assertThat(victims(decisions.getLast())).containsExactly("new");
        }

        @Test
        void capacityIsReservedOnTheGpuWhereTheWaiterFits() {
            Cluster cluster =
                    full().node("n2")
                            .runs(pod("team-d", "x").share(40, 20).on("n2", 0))
                            .runs(pod("team-d", "y").share(55, 30).on("n2", 1))
                            .before(promised("n2"))
                            .waits(pod("team-b", "first").priority(1).waiting(A_MINUTE))
                            .waits(pod("team-b", "second").waiting(A_MINUTE));

            List<Decision> decisions =
                    new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

            // Half a GPU more would fit into what both GPUs have left together.
            assertThat(victims(decisions.getLast())).containsExactly("new");
        }

        /** Capacity is reserved for the pod "first", which is not bound yet. */
        private static PastEviction promised(String node) {
            return new PastEviction(
                    "p",
                    NOON.minusSeconds(5),
                    NOON.plusSeconds(60),
                    new PodRef("team-b-first", "team-b", "first"),
                    "team-b-first",
                    "team-b",
                    "team-a",
                    node,
                    true,
                    false);
        }

        /** A pod of team-b went, or not, for one of team-a within the last day. */
        private static PastEviction roomForTeamA(boolean went, boolean helped) {
            return new PastEviction(
                    "p",
                    NOON.minus(Duration.ofHours(23)),
                    NOON.minus(Duration.ofHours(22)),
                    new PodRef("u", "team-a", "old"),
                    "x",
                    "team-a",
                    "team-b",
                    "n1",
                    went,
                    helped);
        }

        @Test
        void whoLostNothingIsOwedNothing() {
            Cluster cluster =
                    full().within("team-b")
                            .before(roomForTeamA(false, false))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(cluster.decide()).isInstanceOf(Evict.class);
        }

        @Test
        void twoWorkloadsAreNeverEvictedForEachOther() {
            Cluster cluster =
                    full().within("team-b")
                            .before(roomForTeamA(true, true))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

            assertThat(spared(cluster.decide()))
                    .containsOnly(
                            "room was made for its budget by evicting the waiter's, less than PT24H"
                                    + " ago");
            cluster.now = NOON.plus(Duration.ofHours(1));
            assertThat(cluster.decide()).isInstanceOf(Evict.class);
        }

        @Test
        void whoseBudgetMayNotTakeTheRoomIsNotAnsweredAsAnotherThatAsksForTheSame() {
            Cluster cluster =
                    full().within("team-c")
                            .before(roomForTeamA(true, true))
                            .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE))
                            .waits(pod("team-c", "w").gpus(1).waiting(A_MINUTE));

            List<Decision> decisions =
                    new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

            assertThat(decisions.stream().map(PlannerTest::outcome))
                    .containsExactly("NOBODY", "[new]");
        }

        @Test
        void evictionsPerMinuteAreLimited() {
            var rules =
                    new Rules(
                            RULES.patience(),
                            RULES.schedulerPatience(),
                            RULES.settle(),
                            1,
                            RULES.noReturn(),
                            RULES.maxGrace(),
                            null,
                            false);
            Cluster cluster =
                    full().waits(pod("team-b", "w1").gpus(1).priority(1).waiting(A_MINUTE))
                            .waits(pod("team-b", "w2").gpus(1).waiting(A_MINUTE));

            List<Decision> decisions =
                    new Planner(rules).plan(cluster.snapshot(), node -> List.of());

            assertThat(victims(decisions.getFirst())).containsExactly("new");
            assertThat(reason(decisions.getLast())).isEqualTo(Reason.RATE_LIMITED);
        }

        @Test
        void aPlanLargerThanTheLimitIsCarriedOutAlone() {
            var rules =
                    new Rules(
                            RULES.patience(),
                            RULES.schedulerPatience(),
                            RULES.settle(),
                            1,
                            RULES.noReturn(),
                            RULES.maxGrace(),
                            null,
                            false);
            Cluster cluster = full().waits(pod("team-b", "w").gpus(2).waiting(A_MINUTE));

            assertThat(victims(cluster.decide(rules))).hasSize(2);
        }
    }

    @Test
    void twoWaitersDoNotGetTheSameCapacity() {
        Cluster cluster =
                full().waits(pod("team-b", "w1").gpus(1).priority(1).waiting(A_MINUTE))
                        .waits(pod("team-b", "w2").gpus(1).waiting(A_MINUTE))
                        .waits(pod("team-b", "w3").gpus(1).priority(-1).waiting(A_MINUTE));

        List<Decision> decisions = new Planner(RULES).plan(cluster.snapshot(), node -> List.of());

        assertThat(decisions.stream().map(PlannerTest::outcome))
                .containsExactly("[new]", "[old]", "NOBODY");
    }

    @Nested
    class HundredsOfWaiters {

        @Test
        void waitersWithTheSameRequestArePlannedTogether() {
            Cluster cluster = full();
            for (int i = 0; i < 400; i++) {
                cluster.waits(pod("team-b", "w" + i).gpus(3).waiting(A_MINUTE));
            }
            Planner planner = new Planner(RULES);

            List<Decision> decisions = planner.plan(cluster.snapshot(), node -> List.of());

            assertThat(planner.evaluations()).isOne();
            assertThat(decisions).hasSize(400).allMatch(it -> reason(it) == Reason.NO_NODE);
            assertThat(decisions.stream().map(it -> it.waiter().pod().uid()))
                    .doesNotHaveDuplicates();
        }

        @Test
        void soAreThoseOfOtherNamespacesThatAskForTheSame() {
            Cluster cluster = full();
            for (int i = 0; i < 400; i++) {
                cluster.within("team-" + i).waits(pod("team-" + i, "w").gpus(3).waiting(A_MINUTE));
            }
            Planner planner = new Planner(RULES);

            List<Decision> decisions = planner.plan(cluster.snapshot(), node -> List.of());

            assertThat(planner.evaluations()).isOne();
            assertThat(decisions).hasSize(400).allMatch(it -> reason(it) == Reason.NO_NODE);
        }

        @Test
        void aRoundPlansForALimitedNumberAndEveryWaiterIsServedInTurn() {
            Cluster cluster = full();
            for (int i = 0; i < 400; i++) {
                cluster.waits(pod("team-b", "w" + i).gpus(3).priority(i).waiting(A_MINUTE));
            }
            var queue = new WaiterQueue();
            var lookedAt = new HashSet<String>();

            for (int round = 0; round < 400 / Planner.MAX_EVALUATIONS; round++) {
                Planner planner = new Planner(RULES, queue, new ListedNodes());
                planner.plan(cluster.snapshot(), node -> List.of()).stream()
                        .filter(it -> reason(it) != Reason.NEXT_ROUND)
                        .forEach(it -> lookedAt.add(it.waiter().pod().uid()));
                assertThat(planner.evaluations()).isEqualTo(Planner.MAX_EVALUATIONS);
            }

            assertThat(lookedAt).hasSize(400);
        }

        @Test
        void anEvictionForOneWaiterIsSeenByTheNextOfTheSameKind() {
            Cluster cluster = full();
            for (int i = 0; i < 100; i++) {
                cluster.waits(pod("team-b", "w" + i).gpus(1).waiting(A_MINUTE));
            }
            Planner planner = new Planner(RULES);

            List<Decision> decisions = planner.plan(cluster.snapshot(), node -> List.of());

            assertThat(decisions.stream().filter(Evict.class::isInstance)).hasSize(2);
            assertThat(planner.evaluations()).isEqualTo(3);
        }
    }

    @Test
    void considersAllPodsOfANodeBeforeItEvictsThere() {
        ClusterSnapshot metered =
                full().waits(pod("team-b", "w").gpus(1).cpus(2).waiting(A_MINUTE)).snapshot();
        ClusterSnapshot incomplete = incomplete(metered, metered.now());
        var asked = new ArrayList<String>();

        Decision decision =
                new Planner(RULES)
                        .plan(
                                incomplete,
                                node -> {
                                    asked.add(node);
                                    var all = new ArrayList<>(metered.gpuPods());
                                    all.add(pod("web", "cpu-hog").share(0, 0).cpus(13).on("n1"));
                                    return all;
                                })
                        .getFirst();

        assertThat(asked).containsExactly("n1");
        assertThat(victims(decision)).containsExactly("new");
    }

    /** Each second anew, else. */
    @Test
    void nodesWithoutRoomBesidePodsWithoutGpusAreListedOnceInAWhileAndFewInARound() {
        var cluster = new Cluster().within("team-b").over("team-a", 5);
        int nodes = 2 * RoundPicture.MOST + 1;
        for (int i = 0; i < nodes; i++) {
            cluster.node("n" + i).runs(pod("team-a", "p" + i).gpus(2).on("n" + i, 0, 1));
        }
        ClusterSnapshot metered =
                cluster.waits(pod("team-b", "w").gpus(1).cpus(2).waiting(A_MINUTE)).snapshot();
        var queue = new WaiterQueue();
        var listed = new ListedNodes();
        var asked = new ArrayList<String>();
        Function<Duration, Decision> round =
                later ->
                        new Planner(RULES, queue, listed)
                                .plan(
                                        incomplete(metered, metered.now().plus(later)),
                                        node -> {
                                            asked.add(node);
                                            return List.of(
                                                    pod("team-a", node.replace('n', 'p'))
                                                            .gpus(2)
                                                            .on(node, 0, 1),
                                                    pod("web", "cpu-hog-" + node)
                                                            .share(0, 0)
                                                            .cpus(15)
                                                            .on(node));
                                        })
                                .getFirst();

        assertThat(reason(round.apply(Duration.ZERO))).isEqualTo(Reason.NEXT_ROUND);
        assertThat(asked).hasSize(RoundPicture.MOST);
        assertThat(reason(round.apply(ofSeconds(1)))).isEqualTo(Reason.NEXT_ROUND);
        assertThat(reason(round.apply(ofSeconds(2)))).isEqualTo(Reason.WOULD_NOT_FIT);
        assertThat(reason(round.apply(ofSeconds(3)))).isEqualTo(Reason.WOULD_NOT_FIT);
        assertThat(asked).hasSize(nodes).doesNotHaveDuplicates();

        assertThat(reason(round.apply(ListedNodes.REMEMBERED))).isEqualTo(Reason.WOULD_NOT_FIT);
        assertThat(asked)
                .as("somebody may have gone meanwhile")
                .hasSize(nodes + RoundPicture.MOST / 2);
    }

    @Test
    void nobodyGoesByWhatIsOnlyRemembered() {
        Duration young = Duration.ofMinutes(5).minusSeconds(30);
        var held = pod("team-a", "p").gpus(2).age(young).on("b", 0, 1);
        ClusterSnapshot metered =
                new Cluster()
                        .node("a")
                        .node("b")
                        .within("team-b")
                        .over("team-a", 5)
                        .runs(held)
                        .waits(pod("team-b", "w").gpus(1).cpus(2).waiting(A_MINUTE))
                        .snapshot();
        var listed = new ListedNodes();
        var onA = new ArrayList<>(List.of(pod("web", "cpu-hog").share(0, 0).cpus(15).on("a")));
        Function<Duration, Decision> round =
                later ->
                        new Planner(RULES, new WaiterQueue(), listed)
                                .plan(
                                        incomplete(metered, metered.now().plus(later)),
                                        node -> node.equals("a") ? List.copyOf(onA) : List.of(held))
                                .getFirst();

        assertThat(reason(round.apply(Duration.ZERO))).isNotEqualTo(Reason.FITS);
        onA.clear();

        assertThat(reason(round.apply(A_MINUTE)))
                .as("for who is over could go by now, and need not")
                .isEqualTo(Reason.FITS);
    }

    @Test
    void whatIsRememberedIsListedAnewOverSeveralRoundsBeforeSomebodyGoes() {
        Duration young = Duration.ofMinutes(5).minusSeconds(30);
        var held = pod("team-a", "p").gpus(2).age(young).on("b", 0, 1);
        var cluster = new Cluster().node("b").within("team-b").over("team-a", 5).runs(held);
        for (int i = 0; i < 2 * RoundPicture.MOST; i++) {
            cluster.node("n" + i);
        }
        ClusterSnapshot metered =
                cluster.waits(pod("team-b", "w").gpus(1).cpus(2).waiting(A_MINUTE)).snapshot();
        var listed = new ListedNodes();
        var asked = new ArrayList<String>();
        Function<Duration, Decision> round =
                later ->
                        new Planner(RULES, new WaiterQueue(), listed)
                                .plan(
                                        incomplete(metered, metered.now().plus(later)),
                                        node -> {
                                            asked.add(node);
                                            return node.equals("b")
                                                    ? List.of(held)
                                                    : List.of(
                                                            pod("web", "cpu-hog-" + node)
                                                                    .share(0, 0)
                                                                    .cpus(15)
                                                                    .on(node));
                                        })
                                .getFirst();
        for (int i = 0; i < 3; i++) {
            assertThat(round.apply(ofSeconds(i))).isInstanceOf(Leave.class);
        }
        asked.clear();

        assertThat(reason(round.apply(ofSeconds(60)))).isEqualTo(Reason.NEXT_ROUND);
        assertThat(asked).hasSize(RoundPicture.MOST);
        assertThat(reason(round.apply(ofSeconds(61)))).isEqualTo(Reason.NEXT_ROUND);
        assertThat(victims(round.apply(ofSeconds(62)))).containsExactly("p");
        assertThat(asked).contains("n0", "n" + (2 * RoundPicture.MOST - 1));
    }

    @Test
    void whatWasLookedIntoForAnEarlierAnswerIsNotBelievedForALaterOne() {
        Duration young = Duration.ofMinutes(5).minusSeconds(30);
        var held = pod("team-a", "p").gpus(2).age(young).on("b", 0, 1);
        var cluster = new Cluster().node("b").within("team-b").over("team-a", 5).runs(held);
        for (int i = 0; i < 2 * RoundPicture.MOST; i++) {
            cluster.node("n" + i);
        }
        ClusterSnapshot over =
                cluster.waits(pod("team-b", "w").gpus(1).cpus(2).waiting(A_MINUTE)).snapshot();
        ClusterSnapshot granted = cluster.within("team-a").snapshot();
        var listed = new ListedNodes();
        var free = new HashSet<String>();
        BiFunction<ClusterSnapshot, Integer, Decision> round =
                (metered, second) ->
                        new Planner(RULES, new WaiterQueue(), listed)
                                .plan(
                                        incomplete(metered, metered.now().plusSeconds(second)),
                                        node ->
                                                node.equals("b")
                                                        ? List.of(held)
                                                        : free.contains(node)
                                                                ? List.of()
                                                                : List.of(
                                                                        pod("web", "hog-" + node)
                                                                                .share(0, 0)
                                                                                .cpus(15)
                                                                                .on(node)))
                                .getFirst();
        for (int second = 0; second < 3; second++) {
            assertThat(round.apply(over, second)).isInstanceOf(Leave.class);
        }
        assertThat(reason(round.apply(over, 60))).isEqualTo(Reason.NEXT_ROUND);
        assertThat(reason(round.apply(granted, 61))).isEqualTo(Reason.NOBODY);
        free.add("n0");

        Decision last = round.apply(over, 150);
        for (int second = 151; second < 154 && reason(last) == Reason.NEXT_ROUND; second++) {
            last = round.apply(over, second);
        }

        assertThat(reason(last)).isEqualTo(Reason.FITS);
    }

    private static ClusterSnapshot incomplete(ClusterSnapshot snapshot, Instant now) {
        return new ClusterSnapshot(
                now,
                snapshot.waiters(),
                snapshot.nodes(),
                snapshot.gpuPods(),
                snapshot.budgets(),
                Map.of(),
                List.of(),
                List.of(),
                Set.of());
    }

    @Test
    void listsEveryPodThatWasConsidered() {
        Cluster cluster =
                full().node("n2")
                        .runs(pod("team-b", "own").gpus(2).on("n2", 0, 1))
                        .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

        assertThat(((Evict) cluster.decide()).considered())
                .extracting(candidate -> candidate.pod().name(), Candidate::why)
                .containsExactly(
                        tuple("old", "it could go, but the waiter fits without that"),
                        tuple("new", null),
                        tuple("own", "its budget is InBudget"));
    }

    @Test
    void aTolerationOpensATaintedNode() {
        Taint taint = new Taint("NoSchedule", "dedicated", null, "gpu");
        var constraints =
                new SchedulingConstraints(
                        Map.of(),
                        List.of(),
                        List.of(new Toleration("NoSchedule", "dedicated", "Equal", null, "gpu")));
        Cluster cluster =
                new Cluster()
                        .node("n1", taint)
                        .within("team-b")
                        .over("team-a", 5)
                        .runs(pod("team-a", "a").gpus(2).on("n1", 0, 1))
                        .waits(
                                pod("team-b", "w")
                                        .gpus(1)
                                        .constraints(constraints)
                                        .waiting(A_MINUTE));

        assertThat(victims(cluster.decide())).containsExactly("a");
    }

    private static List<String> victims(Decision decision) {
        assertThat(decision).isInstanceOf(Evict.class);
        return ((Evict) decision).victims().stream().map(victim -> victim.pod().name()).toList();
    }

    private static Reason reason(Decision decision) {
        assertThat(decision).isInstanceOf(Leave.class);
        return ((Leave) decision).reason();
    }

    private static List<String> spared(Decision decision) {
        assertThat(decision).isInstanceOf(Leave.class);
        return ((Leave) decision).considered().stream().map(Candidate::why).toList();
    }

    private static String outcome(Decision decision) {
        return decision instanceof Evict ? victims(decision).toString() : reason(decision).name();
    }
}
