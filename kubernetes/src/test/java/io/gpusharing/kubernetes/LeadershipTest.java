package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LeadershipTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration TEN = Duration.ofSeconds(10);

    private final SteppingClock ticks = new SteppingClock(START);
    private final Leadership leadership = new Leadership(ticks);
    private final List<String> calls = new ArrayList<>();

    LeadershipTest() {
        leadership.listen(
                () -> calls.add("begins " + leadership.term()),
                () -> calls.add("ends " + leadership.term()));
    }

    @Test
    void nobodyLeadsBeforeTheLeaseWasTaken() {
        assertThat(leadership.leads()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    void whoCannotBeginDoesNotLeadUntilItCan() {
        var broken = new AtomicBoolean(true);
        leadership.listen(
                () -> {
                    if (broken.get()) {
                        throw new AssertionError("a class that does not load");
                    }
                },
                () -> {});

        assertThatThrownBy(() -> leadership.hold(ticks.instant().plus(TEN)))
                .isInstanceOf(AssertionError.class);
        assertThat(leadership.leads()).isFalse();
        assertThat(calls).containsExactly("begins 1", "ends 1");

        broken.set(false);
        leadership.hold(ticks.instant().plus(TEN));
        assertThat(leadership.leads()).isTrue();
    }

    @Test
    void aTermLastsAsLongAsTheLeaseIsRenewedInTime() {
        leadership.hold(ticks.instant().plus(TEN));
        ticks.pass(Duration.ofSeconds(9));
        leadership.hold(ticks.instant().plus(TEN));
        ticks.pass(Duration.ofSeconds(9));

        assertThat(leadership.leads()).isTrue();
        assertThat(calls).containsExactly("begins 1");
    }

    @Test
    void aLeaderThatCannotRenewStopsAtTheDeadlineByItself() {
        leadership.hold(ticks.instant().plus(TEN));
        ticks.pass(TEN);

        assertThat(leadership.leads()).isFalse();
    }

    @Test
    void aLeaseThatIsRenewedTooLateBeginsAnotherTerm() {
        leadership.hold(ticks.instant().plus(TEN));
        ticks.pass(TEN);

        leadership.hold(ticks.instant().plus(TEN));

        assertThat(leadership.leads()).isTrue();
        assertThat(calls).containsExactly("begins 1", "ends 1", "begins 2");
    }

    @Test
    void theEndOfATermIsReportedOnce() {
        leadership.hold(ticks.instant().plus(TEN));
        leadership.lose();
        leadership.lose();

        assertThat(calls).containsExactly("begins 1", "ends 1");
    }
}
