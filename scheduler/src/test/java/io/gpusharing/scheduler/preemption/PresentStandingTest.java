package io.gpusharing.scheduler.preemption;

import static io.gpusharing.scheduler.preemption.ToyCluster.part;
import static io.gpusharing.scheduler.preemption.ToyCluster.waiter;
import static io.gpusharing.scheduler.preemption.ToyPod.part;
import static io.gpusharing.scheduler.preemption.ToyPod.plain;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * The pods that run are team-a's, in the class of pods over budget where nothing else is said; the
 * one that waits is team-b's, and may preempt nobody but them by its class.
 */
class PresentStandingTest {

    private static final Standing WITHIN = new InBudget(GpuTime.ofMinutes("1000"), null);
    private static final Standing OVER = new OverBudget(GpuTime.ofMinutes("5"));
    private static final int IN_BUDGET = 0;

    private final ToyCluster cluster = new ToyCluster().node("n", 1);

    private void pays(String team, Standing standing) {
        pays(team, standing, OnExhausted.Reclaim, null);
    }

    private void pays(
            String team, Standing standing, OnExhausted onExhausted, @Nullable String doubt) {
        pays(new BudgetAccount(team, standing, onExhausted, minutes(10), false, doubt));
    }

    private void pays(BudgetAccount account) {
        cluster.payers.put(account.name(), account);
    }

    private static Duration minutes(int minutes) {
        return Duration.ofMinutes(minutes);
    }

    private List<String> victims() {
        return victims(IN_BUDGET);
    }

    private List<String> victims(int priority) {
        return cluster.victims(waiter(priority, 1, part(60, 100)));
    }

    @Nested
    class WhoWasAdmittedOverBudget {

        private void runs() {
            cluster.with(part("late", "n", 0, 60).admittedOverBudget());
        }

        @Test
        void goesWhileItsBudgetIsUsedUp() {
            runs();
            pays("team-a", OVER);
            pays("team-b", WITHIN);

            assertThat(victims()).containsExactly("late");
        }

        /** A pod's priority cannot change: its team was granted time, and it went all the same. */
        @Test
        void staysOnceItsBudgetHasTimeAgain() {
            runs();

            pays("team-a", WITHIN);
            assertThat(victims()).isEmpty();

            pays("team-a", new Unlimited());
            assertThat(victims()).isEmpty();

            cluster.payers.clear();
            assertThat(victims()).isEmpty();
        }

        @Test
        void staysWhileWhatItsBudgetSaysIsInDoubt() {
            runs();
            pays("team-a", OVER, OnExhausted.Reclaim, "budget team-a has a newer grant");

            assertThat(victims()).isEmpty();
        }

        @Test
        void staysOnceTheAdministratorOnlyObserves() {
            runs();
            pays("team-a", OVER, OnExhausted.Observe, null);

            assertThat(victims()).isEmpty();
        }

        @Test
        void goesForOneOfAHigherPriorityAsAnyPodInBudgetDoes() {
            runs();
            pays("team-a", WITHIN);

            assertThat(victims(1)).containsExactly("late");
        }

        @Test
        void staysBackInBudgetWhereOneGoesThatChoseToBeLessImportant() {
            cluster.node("n", 2)
                    .with(
                            part("late", "n", 0, 60).admittedOverBudget(),
                            part("chose", "n", 1, 60).priority(-50));
            pays("team-a", WITHIN);

            assertThat(victims()).containsExactly("chose");
        }
    }

    @Test
    void aClassThatAUserChoseSaysNothingOfItsBudget() {
        cluster.with(part("chose", "n", 0, 60).priority(-500).admittedOverBudget());
        pays("team-a", WITHIN);

        assertThat(victims()).containsExactly("chose");
    }

    @Test
    void whoeverAnAdministratorProtectsGoesForNobody() {
        cluster.with(part("kept", "n", 0, 60).admittedOverBudget().doNotReclaim());
        pays("team-a", OVER);

        assertThat(victims(1_000_000)).isEmpty();
    }

    @Test
    void norDoesOneOfANamespaceThatIsProtected() {
        cluster.with(part("kept", "n", 0, 60).admittedOverBudget());
        pays("team-a", OVER);
        cluster.protectedNamespaces.add("team-a");

        assertThat(victims(1_000_000)).isEmpty();
    }

    @Test
    void aProtectedPodKeepsItsGang() {
        cluster.with(
                part("kept", "n", 0, 20).admittedOverBudget().gang("g").doNotReclaim(),
                part("other", "n", 0, 40).admittedOverBudget().gang("g"));
        pays("team-a", OVER);

        assertThat(victims()).isEmpty();
    }

    /** On two nodes, by a label alone. */
    private void aLabelledGangRuns() {
        cluster.node("m", 1)
                .with(
                        part("here", "n", 0, 60)
                                .admittedOverBudget()
                                .gang("team-a/ray.io/cluster=x"),
                        part("there", "m", 0, 90)
                                .admittedOverBudget()
                                .gang("team-a/ray.io/cluster=x"));
        pays("team-b", WITHIN);
    }

    /** Anybody may write it: it would be a way out of every budget. */
    @Test
    void aLabelOnPodsOfTwoNodesProtectsNobodyWhoseBudgetIsUsedUp() {
        aLabelledGangRuns();

        pays("team-a", WITHIN);
        assertThat(victims()).isEmpty();

        pays("team-a", OVER);
        assertThat(victims()).hasSize(1);
    }

    private List<String> victimsOfOneThatWaits(@Nullable Instant since) {
        Preemptor usual = waiter(IN_BUDGET, 1, part(60, 100));
        return cluster.victims(
                new Preemptor(
                        usual.uid(),
                        usual.namespace(),
                        usual.priority(),
                        true,
                        usual.gang(),
                        null,
                        usual.asks(),
                        usual.requests(),
                        null,
                        since));
    }

    /** Which ends all of it, and not the pods of one node alone. */
    @Test
    void soLongAsItMayReclaimTakesAGangOfALabel() {
        aLabelledGangRuns();
        Instant early = ToyPod.NOON.minus(VictimFilter.LEFT_TO_RECLAIM).plusSeconds(1);

        for (OnExhausted rule : List.of(OnExhausted.Reclaim, OnExhausted.LowerPriority)) {
            pays("team-a", OVER, rule, null);
            assertThat(victimsOfOneThatWaits(null)).as("%s", rule).isEmpty();
            assertThat(victimsOfOneThatWaits(early)).as("%s", rule).isEmpty();
            assertThat(victimsOfOneThatWaits(early.minusSeconds(1))).as("%s", rule).hasSize(1);
        }
    }

    @Test
    void whatReclaimDoesNotTakeIsPreemptedAtOnce() {
        aLabelledGangRuns();

        pays(new BudgetAccount("team-a", OVER, OnExhausted.Reclaim, minutes(10), true, null));
        assertThat(victimsOfOneThatWaits(null)).as("paused").hasSize(1);

        pays(new BudgetAccount("team-a", OVER, OnExhausted.Reclaim, minutes(61), false, null));
        assertThat(victimsOfOneThatWaits(null)).as("too young").hasSize(1);

        pays("team-a", OVER);
        cluster.budgets.add(new DisruptionBudget("team-a/none", new LabelSelector(), 1, Set.of()));
        assertThat(victimsOfOneThatWaits(null)).as("kept on the other node").hasSize(1);
    }

    /** Whatever its class, and whatever its owner has written into it. */
    @Test
    void aPodWithoutGpusProtectsNobodyByALabel() {
        cluster.with(
                part("late", "n", 0, 60).admittedOverBudget().gang("team-a/ray.io/cluster=x"),
                plain("web", "n", 1)
                        .priority(1_000)
                        .gang("team-a/ray.io/cluster=x")
                        .doNotReclaim());
        pays("team-a", OVER);
        pays("team-b", WITHIN);

        assertThat(victims()).containsExactly("late");
    }

    @Nested
    class WhoIsOverBudgetByNow {

        @Test
        void goesAsIfItHadBeenAdmittedOverBudget() {
            cluster.with(part("early", "n", 0, 60).priority(IN_BUDGET));
            pays("team-a", OVER);
            pays("team-b", WITHIN);

            assertThat(victims()).containsExactly("early");
        }

        @Test
        void staysWhereReclaimWouldLeaveItAlone() {
            cluster.with(part("early", "n", 0, 60).priority(IN_BUDGET));
            pays("team-b", WITHIN);

            pays("team-a", OVER, OnExhausted.LowerPriority, null);
            assertThat(victims()).as("by onExhausted").isEmpty();

            pays("team-a", OVER, OnExhausted.Reclaim, "behind");
            assertThat(victims()).as("in doubt").isEmpty();

            pays(new BudgetAccount("team-a", OVER, OnExhausted.Reclaim, minutes(10), true, null));
            assertThat(victims()).as("paused").isEmpty();

            pays(new BudgetAccount("team-a", OVER, OnExhausted.Reclaim, minutes(61), false, null));
            assertThat(victims()).as("too young").isEmpty();

            pays("team-a", OVER);
            cluster.budgets.add(
                    new DisruptionBudget("team-a/none", new LabelSelector(), 0, Set.of()));
            assertThat(victims()).as("kept").isEmpty();
        }

        @Test
        void ofAGangTheOldestPodSaysHowLongItRuns() {
            cluster.with(
                    part("old", "n", 0, 20).priority(IN_BUDGET).gang("g"),
                    part("new", "n", 0, 40).priority(IN_BUDGET).gang("g").minutesOld(1));
            pays("team-a", OVER);
            pays("team-b", WITHIN);

            assertThat(victims()).containsExactly("old", "new");
        }

        @Test
        void goesForNobodyWhoseOwnBudgetIsUsedUpOrInDoubt() {
            cluster.with(part("early", "n", 0, 60).priority(IN_BUDGET));
            pays("team-a", OVER);

            pays("team-b", OVER);
            assertThat(victims()).isEmpty();

            pays("team-b", WITHIN, OnExhausted.Reclaim, "behind");
            assertThat(victims()).isEmpty();
        }

        @Test
        void aPodWithoutGpusIsNoMatterOfBudgets() {
            cluster.node("n", 1, 10).with(plain("web", "n", 10).priority(IN_BUDGET));
            cluster.stock.put("n", Set.of("web"));
            pays("team-a", OVER);
            pays("team-b", WITHIN);

            assertThat(victims()).isEmpty();
        }
    }

    /** It was admitted in budget, waited, and its budget has been used up since. */
    @Test
    void whoseBudgetIsUsedUpByNowHasNobodyPreemptedThatIsOverBudget() {
        cluster.with(part("late", "n", 0, 60).admittedOverBudget());
        pays("team-a", OVER);
        pays("team-b", OVER);

        assertThat(victims()).isEmpty();
        assertThat(victims(1_000)).as("whatever class it chose").isEmpty();
    }

    @Test
    void aVictimSaysWhoPaysForItAndSoDoesTheWaiter() {
        cluster.with(part("late", "n", 0, 60).admittedOverBudget());
        pays("team-a", OVER);
        pays("team-b", WITHIN);

        assertThat(cluster.preempt(waiter(IN_BUDGET, 1, part(60, 100))))
                .hasValueSatisfying(chosen -> {
                    assertThat(chosen.payer()).isEqualTo(cluster.payers.get("team-b"));
                    assertThat(chosen.victims())
                            .extracting(RunningPod::payer)
                            .containsExactly(cluster.payers.get("team-a"));
                });
    }
}
