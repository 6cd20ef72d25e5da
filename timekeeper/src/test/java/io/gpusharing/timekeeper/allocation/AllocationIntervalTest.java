package io.gpusharing.timekeeper.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AllocationIntervalTest {

    private static final Instant BOUND = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant LATER = BOUND.plusSeconds(90);
    private static final Pods WAITING = Pods.waiting("team-a", 50, 15);
    private static final Pods RUNNING = WAITING.boundAt(BOUND);

    @Test
    void aWaitingPodHoldsNothing() {
        assertThat(AllocationInterval.of(WAITING.facts())).isEqualTo(new AllocationInterval.None());
        assertThat(AllocationInterval.ofRemoved(WAITING.removedAt(LATER).facts(), LATER))
                .isEqualTo(new AllocationInterval.None());
    }

    @Test
    void aPodHoldsItsShareFromItsBinding() {
        assertThat(AllocationInterval.of(RUNNING.facts()))
                .isEqualTo(new AllocationInterval.Open(BOUND));
    }

    @Test
    void aFinishedPodHeldItUntilItsLastContainerEnded() {
        assertThat(AllocationInterval.of(RUNNING.finishedAt(LATER).facts()))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, false));
    }

    @Test
    void removalAfterTheEndChangesNothing() {
        Pods removed = RUNNING.finishedAt(LATER).removedAt(LATER.plusSeconds(600));

        assertThat(AllocationInterval.ofRemoved(removed.facts(), LATER.plusSeconds(700)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, false));
    }

    @Test
    void aRunningPodThatIsRemovedHeldItUntilThen() {
        assertThat(
                        AllocationInterval.ofRemoved(
                                RUNNING.removedAt(LATER).facts(), LATER.plusSeconds(5)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, false));
    }

    @Test
    void aFinalStateThatDoesNotSayWhenItWasRemovedIsAnEstimate() {
        assertThat(AllocationInterval.ofRemoved(RUNNING.facts(), LATER))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true));
    }

    @Test
    void aPodOnALostNodeHeldItUntilItWasTakenForLost() {
        assertThat(AllocationInterval.of(RUNNING.lostAt(LATER).facts()))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true));
    }

    @Test
    void anEndThatANodesClockPutsIntoTheFutureIsNotLaterThanItWasWrittenDown() {
        Pods finished = RUNNING.finishedAt(Instant.parse("9999-12-31T23:59:59Z"));

        assertThat(AllocationInterval.of(finished.writtenAt(LATER).facts(), LATER.plusSeconds(900)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true, LATER));
        assertThat(AllocationInterval.of(finished.writtenAt(null).facts(), LATER))
                .as("nobody noted when it was written")
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true, LATER));
    }

    @Test
    void anEndYearsBeforeTheBeginIsAWrongClockAndNotAFreePod() {
        Pods finished = RUNNING.finishedAt(Instant.parse("2020-01-01T00:00:00Z")).writtenAt(LATER);

        assertThat(AllocationInterval.of(finished.facts(), LATER.plusSeconds(900)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true, LATER));
    }

    @Test
    void clocksThatAreAFewSecondsApartAreBelieved() {
        Instant ahead = LATER.plusSeconds(5);

        assertThat(AllocationInterval.of(RUNNING.finishedAt(ahead).writtenAt(LATER).facts(), LATER))
                .isEqualTo(new AllocationInterval.Ended(BOUND, ahead, false));
    }

    @Test
    void aForgedWriteTimeDoesNotMoveAnEndBeyondItsObservation() {
        Instant far = Instant.parse("2028-01-01T00:00:00Z");

        assertThat(AllocationInterval.of(RUNNING.finishedAt(far).writtenAt(far).facts(), LATER))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true, LATER));
    }

    @Test
    void aTimekeeperClockThatIsBehindMovesNoEnd() {
        Pods finished = RUNNING.finishedAt(LATER).writtenAt(LATER);

        assertThat(AllocationInterval.of(finished.facts(), LATER.minusSeconds(80_000)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, false));
    }

    @Test
    void aPodThatWaitedIsChargedFromItsBindingWhateverWasWrittenOfItBefore() {
        Pods waited = WAITING.boundAt(LATER).writtenAt(BOUND);

        assertThat(AllocationInterval.of(waited.facts(), LATER))
                .isEqualTo(new AllocationInterval.Open(LATER));
        assertThat(AllocationInterval.of(waited.facts(), LATER.minusSeconds(80_000)))
                .as("our own clock lies behind")
                .isEqualTo(new AllocationInterval.Open(LATER));
    }

    @Test
    void aBindingInTheFutureIsNotLaterThanItsObservation() {
        Pods bound = WAITING.boundAt(Instant.parse("2030-01-01T00:00:00Z"));

        assertThat(AllocationInterval.of(bound.writtenAt(LATER).facts(), LATER.plusSeconds(900)))
                .isEqualTo(estimated(LATER.plusSeconds(900)));
    }

    @Test
    void aConditionThatAKubeletRewroteIsNotTheBegin() {
        Instant again = LATER.plusSeconds(300);

        assertThat(AllocationInterval.of(takenUp(again, BOUND, again), again))
                .isEqualTo(new AllocationInterval.Open(BOUND));
    }

    @Test
    void aKubeletWhoseClockIsAheadDoesNotDelayTheBeginBeyondItsWrite() {
        Instant ahead = LATER.plusSeconds(3600);

        assertThat(AllocationInterval.of(takenUp(ahead, ahead, LATER), LATER.plusSeconds(30)))
                .isEqualTo(estimated(LATER));
    }

    @Test
    void anEndRecordsThatTheBeginIsEstimated() {
        Instant ahead = LATER.plusSeconds(3600);
        PodFacts pod = takenUp(ahead, ahead, LATER);

        assertThat(AllocationInterval.ofRemoved(pod, LATER.plusSeconds(60)))
                .isEqualTo(
                        new AllocationInterval.Ended(
                                new AllocationInterval.Begin(LATER, true),
                                LATER.plusSeconds(60),
                                true,
                                null));
    }

    private static AllocationInterval estimated(Instant begin) {
        return new AllocationInterval.Open(new AllocationInterval.Begin(begin, true));
    }

    @Test
    void aPodThatItsKubeletRejectedHeldItUntilThatWasWritten() {
        Lifecycle life = RUNNING.facts().lifecycle();

        assertThat(
                        AllocationInterval.of(
                                with(
                                        new Lifecycle(
                                                life.created(),
                                                BOUND,
                                                true,
                                                BOUND,
                                                true,
                                                null,
                                                false,
                                                null,
                                                BOUND.plusSeconds(1),
                                                LATER.plusSeconds(600),
                                                LATER))))
                .as("not when it became unready, nor when it was deleted")
                .isEqualTo(new AllocationInterval.Ended(BOUND, LATER, true));
    }

    @Test
    void anIntervalNeverEndsBeforeItBegan() {
        assertThat(AllocationInterval.of(RUNNING.finishedAt(BOUND.minusSeconds(1)).facts()))
                .isEqualTo(new AllocationInterval.Ended(BOUND, BOUND, false));
    }

    @Test
    void aContainerThatEndsAfterThePodsRemovalEndsTheAllocation() {
        Instant finished = LATER.plusSeconds(3);

        assertThat(
                        AllocationInterval.ofRemoved(
                                with(false, finished, false, null, LATER), LATER.plusSeconds(9)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, finished, false));
    }

    @Test
    void onALostNodeTheEndOfOneContainerIsNotThatOfThePod() {
        Instant lost = LATER.plusSeconds(300);

        assertThat(AllocationInterval.of(with(true, LATER, true, lost, null)))
                .isEqualTo(new AllocationInterval.Ended(BOUND, lost, true));
    }

    @Test
    void noPodHeldAnythingBeforeItWasCreated() {
        Instant created = RUNNING.facts().lifecycle().created();

        assertThat(AllocationInterval.of(WAITING.boundAt(created.minusSeconds(600)).facts()))
                .isEqualTo(new AllocationInterval.Open(created));
    }

    private static PodFacts with(
            boolean terminal,
            Instant finished,
            boolean anotherRuns,
            @Nullable Instant disrupted,
            @Nullable Instant removal) {
        return with(
                new Lifecycle(
                        RUNNING.facts().lifecycle().created(),
                        BOUND,
                        true,
                        BOUND,
                        terminal,
                        finished,
                        anotherRuns,
                        disrupted,
                        null,
                        removal,
                        null));
    }

    /** A pod of which a kubelet wrote when it was scheduled. */
    private static PodFacts takenUp(Instant scheduled, Instant started, Instant written) {
        return with(
                new Lifecycle(
                        RUNNING.facts().lifecycle().created(),
                        scheduled,
                        false,
                        started,
                        false,
                        null,
                        true,
                        null,
                        null,
                        null,
                        written));
    }

    private static PodFacts with(Lifecycle lifecycle) {
        PodFacts pod = RUNNING.facts();
        return new PodFacts(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                pod.owner(),
                pod.request(),
                pod.claimed(),
                pod.annotations(),
                pod.placement(),
                lifecycle);
    }
}
