package io.gpusharing.timekeeper.reclaim;

import static io.gpusharing.timekeeper.reclaim.Cluster.NOON;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class OutcomeTest {

    private static final Instant SETTLES = NOON.plusSeconds(60);

    @Test
    void anEvictionWhoseWaiterWasBoundThereHelped() {
        assertThat(Outcome.of("n1", SETTLES, true, "n1", NOON))
                .contains(new Outcome(true, "the waiter was bound to n1"));
    }

    @Test
    void aWaiterThatWasBoundElsewhereDidNotNeedIt() {
        assertThat(Outcome.of("n1", SETTLES, true, "n2", NOON))
                .contains(new Outcome(false, "the waiter was bound to n2, room was made on n1"));
    }

    @Test
    void aWaiterThatWasDeletedWasNotHelped() {
        assertThat(Outcome.of("n1", SETTLES, false, null, NOON))
                .contains(new Outcome(false, "the waiter went before it was bound"));
    }

    @Test
    void aPodThatStillWaitsHasUntilTheReservationExpires() {
        assertThat(Outcome.of("n1", SETTLES, true, null, SETTLES.minusSeconds(1))).isEmpty();
        assertThat(Outcome.of("n1", SETTLES, true, null, SETTLES))
                .contains(new Outcome(false, "the waiter still waited at 2026-03-02T12:01:00Z"));
    }
}
