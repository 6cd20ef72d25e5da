package io.gpusharing.timekeeper.metering;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.testing.Pods;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class StayTest {

    private static final Instant BOUND = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant LATER = BOUND.plusSeconds(90);
    private static final Pods WAITING = Pods.waiting("team-a", 50, 15);
    private static final Pods RUNNING = WAITING.boundAt(BOUND);

    @Test
    void aWaitingPodHoldsNothing() {
        assertThat(Stay.of(WAITING.facts())).isEqualTo(new Stay.None());
        assertThat(Stay.ofRemoved(WAITING.removedAt(LATER).facts(), LATER))
                .isEqualTo(new Stay.None());
    }

    @Test
    void aPodHoldsItsShareFromItsBinding() {
        assertThat(Stay.of(RUNNING.facts())).isEqualTo(new Stay.Open(BOUND));
    }

    @Test
    void aFinishedPodHeldItUntilItsLastContainerEnded() {
        assertThat(Stay.of(RUNNING.finishedAt(LATER).facts()))
                .isEqualTo(new Stay.Ended(BOUND, LATER, false));
    }

    @Test
    void removalAfterTheEndChangesNothing() {
        Pods removed = RUNNING.finishedAt(LATER).removedAt(LATER.plusSeconds(600));

        assertThat(Stay.ofRemoved(removed.facts(), LATER.plusSeconds(700)))
                .isEqualTo(new Stay.Ended(BOUND, LATER, false));
    }

    @Test
    void aRunningPodThatIsRemovedHeldItUntilThen() {
        assertThat(Stay.ofRemoved(RUNNING.removedAt(LATER).facts(), LATER.plusSeconds(5)))
                .isEqualTo(new Stay.Ended(BOUND, LATER, false));
    }

    @Test
    void aFinalStateThatDoesNotSayWhenItWasRemovedIsAnEstimate() {
        assertThat(Stay.ofRemoved(RUNNING.facts(), LATER))
                .isEqualTo(new Stay.Ended(BOUND, LATER, true));
    }

    @Test
    void aPodOnALostNodeHeldItUntilItWasTakenForLost() {
        assertThat(Stay.of(RUNNING.lostAt(LATER).facts()))
                .isEqualTo(new Stay.Ended(BOUND, LATER, true));
    }

    @Test
    void aStayNeverEndsBeforeItBegan() {
        assertThat(Stay.of(RUNNING.finishedAt(BOUND.minusSeconds(1)).facts()))
                .isEqualTo(new Stay.Ended(BOUND, BOUND, false));
    }
}
