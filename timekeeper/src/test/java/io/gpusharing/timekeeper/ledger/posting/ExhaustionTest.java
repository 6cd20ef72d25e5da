package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Ten minutes of one GPU. */
class ExhaustionTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "10", "team-a"));

    private static Instant at(String time) {
        return Instant.parse("2026-03-02T10:" + time + "Z");
    }

    private static Pods wholeGpu(Instant from) {
        return Pods.waiting("team-a", 100, 0).boundAt(from);
    }

    @Test
    void aLateBeginMovesTheExhaustionToWhereItWas() {
        ledger.onUpdate(wholeGpu(TEN));
        ledger.pass(Duration.ofMinutes(9));

        ledger.onUpdate(wholeGpu(at("05:00")));

        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(at("07:30"));
    }

    @Test
    void aLateEndMovesTheRecordedExhaustion() {
        Pods third = wholeGpu(TEN);
        ledger.onUpdate(wholeGpu(TEN));
        ledger.onUpdate(wholeGpu(TEN));
        ledger.onUpdate(third);
        ledger.pass(Duration.ofMinutes(5));
        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(at("03:20"));

        ledger.onUpdate(third.finishedAt(at("03:00")));

        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(at("03:30"));
    }

    @Test
    void itIsExactToTheMicrosecondLikeThePrediction() {
        ledger.onUpdate(Pods.waiting("team-a", 70, 15).boundAt(TEN));
        ledger.pass(Duration.ofMinutes(14));
        Instant foretold = ledger.budget("a").exhaustedAt();

        Pods other = wholeGpu(at("14:00"));
        ledger.onUpdate(other);
        ledger.pass(Duration.ofMinutes(1));
        ledger.onUpdate(other.finishedAt(at("14:00")));

        assertThat(ledger.budget("a").exhaustedAt())
                .isEqualTo(foretold)
                .isEqualTo(at("14:17.142858"));
    }

    @Test
    void hourlyPostingsDoNotMoveTheExhaustion() {
        ledger.onUpdate(wholeGpu(TEN));
        ledger.pass(Duration.ofMinutes(11));
        Instant noted = ledger.budget("a").exhaustedAt();

        ledger.pass(Duration.ofMinutes(55));

        assertThat(ledger.budget("a").exhaustedAt()).isEqualTo(noted).isEqualTo(at("10:00"));
    }
}
