package io.gpusharing.scheduler.preemption;

import static io.gpusharing.scheduler.preemption.ToyCluster.part;
import static io.gpusharing.scheduler.preemption.ToyCluster.waiter;
import static io.gpusharing.scheduler.preemption.ToyCluster.wholes;
import static io.gpusharing.scheduler.preemption.ToyPod.part;
import static io.gpusharing.scheduler.preemption.ToyPod.plain;
import static io.gpusharing.scheduler.preemption.ToyPod.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.Dialect;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class PreemptionsTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration A_YEAR = Duration.ofDays(365);

    private final ToyCluster cluster = new ToyCluster().node("n", 2);

    @Nested
    class OnOneNode {

        @Test
        void choosesThePodsOnTheRightGpuWhereStockChoseOneOnEach() {
            // 60 are wanted. kube-scheduler spares the oldest, and would have 30 and 40 of two
            // GPUs.
            cluster.with(
                    part("kept-40", "n", 0, 40).priority(1_000),
                    part("oldest", "n", 0, 30).minutesOld(90),
                    part("older", "n", 0, 30),
                    part("kept-60", "n", 1, 60).priority(1_000),
                    part("small", "n", 1, 40));
            cluster.stock.put("n", Set.of("older", "small"));

            assertThat(cluster.preempt(waiter(part(60, 100))))
                    .hasValueSatisfying(chosen -> {
                        assertThat(chosen.victims())
                                .extracting(RunningPod::name)
                                .containsExactly("oldest", "older");
                        assertThat(chosen.placement().held())
                                .containsExactly(new GpuHold("n-gpu-0", 60, 100, false));
                    });
        }

        @Test
        void evictsNobodyOfEqualOrHigherPriority() {
            cluster.with(
                    part("equal", "n", 0, 60).priority(1_000),
                    part("higher", "n", 1, 60).priority(1_001));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
            assertThat(cluster.victims(waiter(1_001, 1, part(60, 100)))).containsExactly("equal");
        }

        @Test
        void aPodWhosePolicyIsNeverEvictsNobody() {
            cluster.with(part("a", "n", 0, 60), part("b", "n", 1, 60));
            Preemptor waiter = waiter(part(60, 100));

            assertThat(
                            cluster.victims(
                                    new Preemptor(
                                            waiter.uid(),
                                            waiter.namespace(),
                                            waiter.priority(),
                                            false,
                                            waiter.gang(),
                                            null,
                                            waiter.asks(),
                                            waiter.requests(),
                                            null,
                                            null)))
                    .isEmpty();
        }

        @Test
        void evictsNoMoreThanNeededAndSparesTheMostImportant() {
            cluster.node("n", 1)
                    .with(
                            part("oldest", "n", 0, 30).minutesOld(300),
                            part("newest", "n", 0, 30).minutesOld(1),
                            part("higher", "n", 0, 30).priority(500));

            assertThat(cluster.victims(waiter(part(40, 100)))).containsExactly("newest");
        }

        @Test
        void countsTheMemoryOfEachGpuToo() {
            cluster.with(
                    part("small", "n", 0, 10).memory(900),
                    part("large", "n", 1, 10).memory(900).priority(-200));

            assertThat(cluster.victims(waiter(part(10, 500)))).containsExactly("large");
        }

        @Test
        void takesTheGpuWhereTheHighestPriorityIsLowest() {
            cluster.with(
                    part("one", "n", 0, 60).priority(5),
                    part("a", "n", 1, 50).priority(3),
                    part("b", "n", 1, 50).priority(3));

            assertThat(cluster.victims(waiter(part(80, 100)))).containsExactly("a", "b");
        }

        @Test
        void ofEqualsTakesFewerAndOfThoseWhoBeganLast() {
            cluster.node("n", 3)
                    .with(
                            part("a", "n", 0, 50),
                            part("b", "n", 0, 50),
                            part("old", "n", 1, 90).minutesOld(500),
                            part("new", "n", 2, 90).minutesOld(5));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("new");
        }

        @Test
        void freesAGpuForAPodThatWantsAllOfIt() {
            cluster.with(part("a", "n", 0, 10), part("b", "n", 0, 10), part("c", "n", 1, 90));

            assertThat(cluster.victims(waiter(wholes(1)))).containsExactly("c");
        }

        @Test
        void freesThoseGpusThatCostLeastForAPodThatWantsSeveral() {
            cluster.node("n", 4)
                    .with(whole("a", "n", 0), whole("b", "n", 1), whole("large", "n", 2, 3));

            assertThat(cluster.victims(waiter(wholes(2)))).containsExactly("large");
        }

        @Test
        void usesGpusThatAreFreeAndEvictsForTheRestOnly() {
            cluster.node("n", 3).with(whole("a", "n", 0), whole("b", "n", 1).minutesOld(5));

            assertThat(cluster.victims(waiter(wholes(2)))).containsExactly("b");
        }

        @Test
        void makesRoomForSeveralContainersOnSeveralGpus() {
            cluster.with(
                    part("a", "n", 0, 30),
                    part("b", "n", 0, 70),
                    part("c", "n", 1, 50),
                    part("d", "n", 1, 50).minutesOld(5));

            assertThat(cluster.preempt(waiter(part(70, 100), part(50, 100))))
                    .hasValueSatisfying(chosen -> {
                        assertThat(chosen.victims())
                                .extracting(RunningPod::name)
                                .containsExactly("b", "d");
                        assertThat(chosen.placement().containers()).hasSize(2);
                    });
        }

        @Test
        void anUnhealthyGpuIsNotMadeFree() {
            cluster.describe("n", 2, Set.of(1), Map.of());
            cluster.with(
                    part("kept", "n", 0, 60).priority(1_000),
                    part("on-the-unhealthy-one", "n", 1, 60));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void nobodyGoesWhereAllOfThemWouldNotBeEnough() {
            cluster.with(
                    part("kept-0", "n", 0, 50).priority(1_000),
                    part("a", "n", 0, 50),
                    part("kept-1", "n", 1, 50).priority(1_000),
                    part("b", "n", 1, 50));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }
    }

    @Nested
    class WhoHoldsAGpu {

        @Test
        void aPodWhoseGpusNobodyKnowsBlocksAllAndMayBeAVictim() {
            cluster.with(part("unknown", "n", 0, 60).on(null));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("unknown");

            cluster.with(part("unknown-too", "n", 0, 60).on(null).priority(1_000));
            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void whatADevicePluginGrantedToAPodThatHasGoneIsNotFree() {
            cluster.describe(
                    "n",
                    2,
                    Set.of(),
                    Map.of("gone", List.of(new GpuHold("n-gpu-0", 60, 1, false))));
            cluster.with(part("a", "n", 0, 40), part("b", "n", 1, 60).priority(500));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("b");
        }

        @Test
        void theReservationOfAnotherPodIsNoRoom() {
            cluster.with(part("a", "n", 0, 60));
            reserve("other", 60);

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("a");

            cluster.with(part("b", "n", 0, 40).priority(1_000));
            assertThat(cluster.victims(waiter(part(80, 100)))).isEmpty();
        }

        private void reserve(String uid, int cores) {
            cluster.gpus.filter(gpuPod(uid, cores), List.of("n"), ToyPod.NOON);
        }

        private GpuPod gpuPod(String uid, int cores) {
            return new GpuPod(
                    uid,
                    "team-a",
                    uid,
                    List.of(new ContainerAsk("c", Kind.App, part(cores, 100), Set.of())));
        }

        @Test
        void whoIsToShareAGpuMakesRoomThereAndNeverAtTheCostOfTheOthers() {
            var group = new GpuGroup("team-a", "g");
            cluster.gpus.bind(companion(group), "n");
            cluster.with(part("beside", "n", 0, 30), part("elsewhere", "n", 1, 10).priority(-200));
            Preemptor alone = waiter(part(60, 100));
            var waiter =
                    new Preemptor(
                            alone.uid(),
                            alone.namespace(),
                            alone.priority(),
                            true,
                            alone.gang(),
                            group,
                            alone.asks(),
                            alone.requests(),
                            null,
                            null);

            assertThat(cluster.victims(waiter)).containsExactly("beside");
            cluster.gpus.forget("beside");
            cluster.with(part("beside", "n", 0, 30).priority(2_000));
            assertThat(cluster.victims(waiter)).isEmpty();
        }

        /** The least important of all. */
        private GpuPod companion(GpuGroup group) {
            cluster.with(part("companion", "n", 0, 40).priority(-1_000));
            return new GpuPod(
                    "companion",
                    "team-a",
                    "companion",
                    ContainerAsk.only(
                            List.of(new ContainerAsk("c", Kind.App, part(40, 100), Set.of())),
                            "n-gpu-0"),
                    List.of(),
                    Dialect.Vcuda,
                    -1_000,
                    null,
                    Strategy.BestFit,
                    group);
        }

        @Test
        void aPodsOwnReservationIsNotInItsWay() {
            cluster.with(part("kept", "n", 0, 60).priority(1_000), part("a", "n", 1, 30));
            reserve("waiter", 60);

            assertThat(cluster.victims(waiter(part(80, 100)))).containsExactly("a");
        }

        @Test
        void nobodyGoesForAPodThatIsBoundOrMayBeAtThisMoment() {
            cluster.with(part("a", "n", 0, 60), part("b", "n", 1, 30));
            assertThat(cluster.gpus.claim(gpuPod("waiter", 60), "n", ToyPod.NOON)).isPresent();

            assertThat(cluster.victims(waiter(part(80, 100)))).isEmpty();
        }
    }

    @Nested
    class Gangs {

        @Test
        void aJobGoesAsAWhole() {
            cluster.with(part("one", "n", 0, 60).gang("job"), part("two", "n", 1, 60).gang("job"));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("one", "two");
        }

        @Test
        void ratherOnePodThanAJobOfTwo() {
            cluster.with(
                    part("one", "n", 0, 50).gang("job"),
                    part("two", "n", 0, 50).gang("job"),
                    part("alone", "n", 1, 60).minutesOld(900));

            assertThat(cluster.victims(waiter(part(50, 100)))).containsExactly("alone");
        }

        /** No plan could name all of it. */
        @Test
        void oneThatIsTooLargeForAPlanGoesPodByPod() {
            cluster.with(part("here", "n", 0, 60).gang("job"), part("b", "n", 1, 60).priority(5));
            for (int i = 1; i <= 512; i++) {
                cluster.running.put(part("w-" + i, "m", 0, 1).gang("job").running(), "m");
            }

            Preemption chosen = cluster.preempt(waiter(part(60, 100))).orElseThrow();

            assertThat(chosen.victims())
                    .extracting(RunningPod::name, RunningPod::gang)
                    .containsExactly(tuple("here", "here"));
            cluster.running.remove("w-1");
            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("b");
        }

        @Test
        void sparesAJobThatAlsoRunsElsewhere() {
            cluster.node("other", 1).stock.remove("other");
            cluster.with(
                    part("here", "n", 0, 60).gang("job"),
                    part("there", "other", 0, 60).gang("job"),
                    part("kept", "n", 1, 60).priority(1_000));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void sparesAGangWithOneOfTooHighPriority() {
            cluster.with(
                    part("low", "n", 0, 60).gang("job"),
                    plain("high", "n", 1).gang("job").priority(1_000),
                    part("kept", "n", 1, 60).priority(1_000));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void takesTheMembersWithoutAGpuAsWell() {
            cluster.with(
                    part("worker", "n", 0, 60).gang("job"),
                    plain("launcher", "n", 1).gang("job"),
                    part("kept", "n", 1, 60).priority(1_000));

            assertThat(cluster.victims(waiter(part(60, 100))))
                    .containsExactlyInAnyOrder("worker", "launcher");
        }

        @Test
        void nobodyProtectsAJobByAPodElsewhereThatIsDeletedAndDoesNotEnd() {
            cluster.node("other", 1).stock.remove("other");
            cluster.with(
                    part("here", "n", 0, 60).gang("job"),
                    part("there", "other", 0, 60).gang("job").deleted(A_YEAR),
                    part("kept", "n", 1, 60).priority(1_000));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("here");
        }

        @Test
        void noPodMakesRoomForAnotherOfItsOwnGang() {
            cluster.with(
                    part("mate", "n", 0, 60).gang("waiter"),
                    part("kept", "n", 1, 60).priority(1_000));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }
    }

    @Nested
    class Leaving {

        @Test
        void nobodyGoesIfThePodFitsOnceThoseThatAreLeavingHaveGone() {
            cluster.node("other", 1)
                    .with(
                            part("leaving", "n", 0, 60).deleted(SOON),
                            part("a", "n", 1, 60),
                            part("b", "other", 0, 60));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void whereThatIsNotEnoughOthersGoAndNotTheLeavingOnes() {
            cluster.with(
                    part("leaving", "n", 0, 40).deleted(SOON),
                    part("a", "n", 0, 60),
                    part("b", "n", 1, 90).priority(500));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("a");
        }

        @Test
        void isWaitedForAsLongAsTheSettingsOfReclaimSay() {
            cluster.with(
                    part("leaving", "n", 0, 60).deleted(Duration.ofMinutes(8)),
                    part("a", "n", 1, 60));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("a");

            cluster.endings = new EndingRules(Duration.ofMinutes(1), Duration.ofMinutes(10));
            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }

        @Test
        void nobodyWaitsForAPodThatGaveItselfAYear() {
            cluster.with(part("year", "n", 0, 60).deleted(A_YEAR), part("a", "n", 1, 60));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("a");
        }

        @Test
        void norForOneThatItsKubeletDoesNotEnd() {
            cluster.with(
                    part("stuck", "n", 0, 60).deleted(Duration.ofMinutes(-2)),
                    part("a", "n", 1, 60));

            assertThat(cluster.victims(waiter(part(60, 100)))).containsExactly("a");
        }
    }

    @Nested
    class Sums {

        @Test
        void aPodWithoutAGpuThatKubeSchedulerNamedGoesWhereSumsAreShort() {
            cluster.node("n", 1, 10)
                    .with(part("gpu", "n", 0, 60), plain("web", "n", 9), plain("db", "n", 0));
            cluster.stock.put("n", Set.of("web", "db"));

            assertThat(cluster.victims(waiter(1_000, 2, part(60, 100))))
                    .containsExactlyInAnyOrder("gpu", "web");
        }

        @Test
        void andIsSparedWhereTheyAreNot() {
            cluster.node("n", 1, 10).with(part("gpu", "n", 0, 60), plain("web", "n", 5));
            cluster.stock.put("n", Set.of("web"));

            assertThat(cluster.victims(waiter(1_000, 2, part(60, 100)))).containsExactly("gpu");
        }

        @Test
        void nobodyElseWithoutAGpuGoesNorAnybodyOfHigherPriority() {
            cluster.node("n", 1, 10).with(part("gpu", "n", 0, 60), plain("web", "n", 9));

            assertThat(cluster.victims(waiter(1_000, 2, part(60, 100)))).isEmpty();

            cluster.stock.put("n", Set.of("high"));
            cluster.with(plain("high", "n", 9).priority(1_000));
            assertThat(cluster.victims(waiter(1_000, 2, part(60, 100)))).isEmpty();
        }

        @Test
        void whereGpusAreFreeAndCpuIsShortTheLeastImportantGoes() {
            cluster.node("n", 2, 10)
                    .with(part("a", "n", 0, 10).cpu(4), part("b", "n", 1, 10).cpu(4).minutesOld(5));

            assertThat(cluster.victims(waiter(1_000, 6, part(60, 100)))).containsExactly("b");
        }

        @Test
        void theSlotsOfTheNodeCountToo() {
            cluster.node("n", 1, 1_000).with(part("gpu", "n", 0, 60));
            for (int i = 0; i < 110; i++) {
                cluster.with(plain("web-" + i, "n", 1));
            }
            cluster.stock.put("n", Set.of("web-7", "web-8"));

            assertThat(cluster.victims(waiter(part(60, 100)))).hasSize(2).contains("gpu");
        }

        @Test
        void roomThatIsBeingMadeForAnotherIsNotFree() {
            cluster.node("n", 2, 12)
                    .with(part("a", "n", 0, 60).cpu(2), part("b", "n", 1, 60).cpu(6));
            nominate("equal", 1_000, 6);

            assertThat(cluster.victims(waiter(1_000, 4, part(60, 100)))).containsExactly("b");

            cluster.nominated.clear();
            nominate("lower", 999, 6);
            nominate("waiter", 1_000, 6);
            assertThat(cluster.victims(waiter(1_000, 4, part(60, 100)))).containsExactly("a");
        }

        private void nominate(String name, int priority, int cpu) {
            cluster.nominated.put(
                    "n",
                    List.of(
                            new Load(
                                    plain(name, "n", cpu).priority(priority).running(),
                                    ToyCluster.amounts(0, cpu, 1))));
        }

        @Test
        void aNodeWhoseSumsStayShortIsPassedOver() {
            cluster.node("full", 1, 1)
                    .with(
                            part("cheap", "full", 0, 60).priority(-500).cpu(0),
                            part("a", "n", 0, 60),
                            part("b", "n", 1, 60).priority(500));

            assertThat(cluster.victims(waiter(1_000, 2, part(60, 100)))).containsExactly("a");
            assertThat(cluster.read).containsExactly("full", "n");
        }

        @Test
        void aVictimThatTheApiServerDoesNotKnowIsNotNamed() {
            cluster.with(part("gone", "n", 0, 60), part("kept", "n", 1, 60).priority(1_000));
            cluster.pods.removeIf(pod -> pod.name().equals("gone"));

            assertThat(cluster.victims(waiter(part(60, 100)))).isEmpty();
        }
    }

    @Nested
    class DisruptionBudgets {

        private void guard(String value, int allowed, String... disrupted) {
            cluster.budgets.add(
                    new DisruptionBudget(
                            "team-a/" + value,
                            new LabelSelectorBuilder().addToMatchLabels("app", value).build(),
                            allowed,
                            Set.of(disrupted)));
        }

        @Test
        void areAvoidedWherePossible() {
            guard("web", 0);
            cluster.with(
                    part("guarded", "n", 0, 60).label("app", "web"),
                    part("higher", "n", 1, 60).priority(500));

            assertThat(cluster.preempt(waiter(part(60, 100))))
                    .hasValueSatisfying(chosen -> {
                        assertThat(chosen.victims())
                                .extracting(RunningPod::name)
                                .containsExactly("higher");
                        assertThat(chosen.cost().violations()).isZero();
                    });
        }

        @Test
        void areAvoidedOnTheSameGpuToo() {
            guard("web", 0);
            cluster.node("n", 1)
                    .with(
                            part("guarded", "n", 0, 50).label("app", "web").priority(-500),
                            part("other", "n", 0, 50));

            assertThat(cluster.victims(waiter(part(50, 100)))).containsExactly("other");
        }

        @Test
        void areCountedWhereTheyCannotBeAvoided() {
            guard("web", 1);
            cluster.node("n", 1)
                    .with(
                            part("one", "n", 0, 30).label("app", "web"),
                            part("two", "n", 0, 30).label("app", "web"),
                            part("three", "n", 0, 30).label("app", "web"));

            assertThat(cluster.preempt(waiter(part(60, 100))))
                    .hasValueSatisfying(chosen -> {
                        assertThat(chosen.victims()).hasSize(2);
                        assertThat(chosen.cost().violations()).isOne();
                    });
        }

        @Test
        void doNotCountAPodWhoseGoingHasBeenCounted() {
            guard("web", 0, "counted");
            cluster.with(
                    part("counted", "n", 0, 60).label("app", "web"),
                    part("guarded", "n", 1, 60).label("app", "web").priority(-500));

            assertThat(cluster.preempt(waiter(part(60, 100))))
                    .hasValueSatisfying(chosen -> assertThat(chosen.cost().violations()).isZero());
        }
    }

    @Nested
    class AmongNodes {

        private final ToyCluster nodes =
                new ToyCluster().node("a", 1).node("b", 1).node("c", 1).node("d", 1);

        @Test
        void theLowestHighestPriorityWins() {
            nodes.with(
                    part("a", "a", 0, 60).priority(9),
                    part("b", "b", 0, 60).priority(7),
                    part("c", "c", 0, 60).priority(8),
                    part("d", "d", 0, 60).priority(1_000));

            assertThat(nodes.victims(waiter(part(60, 100)))).containsExactly("b");
        }

        @Test
        void thenTheSmallestSum() {
            nodes.with(
                    part("a1", "a", 0, 50).priority(9),
                    part("a2", "a", 0, 50).priority(1),
                    part("b", "b", 0, 60).priority(9),
                    part("c1", "c", 0, 50).priority(9),
                    part("c2", "c", 0, 50).priority(2));

            nodes.stock.remove("d");
            assertThat(nodes.victims(waiter(part(90, 100)))).containsExactly("b");
            nodes.stock.remove("b");
            assertThat(nodes.victims(waiter(part(90, 100)))).containsExactly("a1", "a2");
        }

        @Test
        void thenTheLatestStartAndThenTheName() {
            nodes.with(
                    part("a", "a", 0, 60).minutesOld(10),
                    part("b", "b", 0, 60).minutesOld(9),
                    part("c", "c", 0, 60).minutesOld(9),
                    part("d", "d", 0, 60).minutesOld(11));

            assertThat(nodes.victims(waiter(part(60, 100)))).containsExactly("b");
            assertThat(nodes.read).as("the best one was enough").containsExactly("b");
        }

        @Test
        void onlyThoseWhereKubeSchedulerWouldEvictSomebody() {
            nodes.with(part("a", "a", 0, 60), part("b", "b", 0, 60).priority(500));
            nodes.stock.keySet().retainAll(Set.of("b"));

            assertThat(nodes.victims(waiter(part(60, 100)))).containsExactly("b");
        }

        @Test
        void ofManyOnlyTheBestAreRead() {
            var many = new ToyCluster();
            for (int i = 0; i < 9; i++) {
                String node = "node-" + i;
                // Cheap by GPUs, and then somebody else has to go as well.
                many.node(node, 1, 10)
                        .with(
                                part("gpu-" + i, node, 0, 60),
                                plain("web-" + i, node, 9).priority(9 - i));
                many.stock.put(node, Set.of("web-" + i));
            }

            assertThat(many.victims(waiter(1_000, 2, part(60, 100))))
                    .containsExactly("web-2", "gpu-2");
            assertThat(many.read).containsExactly("node-0", "node-1", "node-2");
        }

        @Test
        void anApiServerThatIsSlowIsNotAskedForTheNextOne() {
            nodes.latency = Duration.ofMillis(600);
            nodes.node("a", 1, 1)
                    .with(
                            part("a", "a", 0, 60).priority(-500).cpu(0),
                            part("b", "b", 0, 60),
                            part("c", "c", 0, 60),
                            part("d", "d", 0, 60));

            assertThat(nodes.victims(waiter(1_000, 2, part(60, 100)))).isEmpty();
            assertThat(nodes.read).containsExactly("a");
        }

        @Test
        void aNodeThatHasGoneIsPassedOver() {
            cluster.with(part("a", "n", 0, 60), part("b", "n", 1, 60));
            cluster.describe("gone", 1, Set.of(), Map.of());
            cluster.stock.put("gone", Set.of());
            cluster.with(part("cheap", "gone", 0, 60).priority(-500));

            assertThat(cluster.victims(waiter(part(60, 100)))).hasSize(1).doesNotContain("cheap");
        }
    }
}
