package io.gpusharing.scheduler.evicting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.GpuEviction.Outcome;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class WaitersTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    private static final Instant SETTLES = NOON.plusSeconds(60);

    private static Outcome seen(boolean helped, String detail) {
        return new Outcome(helped, detail, "2026-03-02T12:00:00Z");
    }

    @Test
    void anEvictionWhoseWaiterWasBoundThereHelped() {
        assertThat(Waiters.outcome("n1", SETTLES, true, "n1", NOON))
                .contains(seen(true, "the waiter was bound to n1"));
    }

    @Test
    void aWaiterThatWasBoundElsewhereDidNotNeedIt() {
        assertThat(Waiters.outcome("n1", SETTLES, true, "n2", NOON))
                .contains(seen(false, "the waiter was bound to n2, room was made on n1"));
    }

    @Test
    void aWaiterThatWasDeletedWasNotHelped() {
        assertThat(Waiters.outcome("n1", SETTLES, false, null, NOON))
                .contains(seen(false, "the waiter went before it was bound"));
    }

    @Test
    void aPodThatStillWaitsHasUntilTheReservationExpires() {
        assertThat(Waiters.outcome("n1", SETTLES, true, null, SETTLES.minusSeconds(1))).isEmpty();
        assertThat(Waiters.outcome("n1", SETTLES, true, null, SETTLES))
                .map(Outcome::detail)
                .contains("the waiter still waited at 2026-03-02T12:01:00Z");
    }
}
