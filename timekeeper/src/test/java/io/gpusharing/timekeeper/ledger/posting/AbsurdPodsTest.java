package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.ShareRule;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods bound past the scheduler that ask for more GPUs than there are in the world. */
class AbsurdPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    @ParameterizedTest
    @ValueSource(longs = {20_000_000, 100_000_000})
    void absurdPodsAreChargedTheMaximumAndAffectNoOtherAccount(long core) {
        var ledger =
                new TestLedger(
                        TEN,
                        monthly("a", TEN, "100", "team-a"),
                        monthly("b", TEN, "100", "team-b"));
        Pods absurd = Pods.waiting("team-a", core, 0).boundAt(TEN);
        Pods usual = Pods.waiting("team-b", 50, 15).boundAt(TEN);

        ledger.onUpdate(absurd);
        ledger.onUpdate(usual);
        ledger.pass(Duration.ofDays(29));

        assertThat(ledger.allocation(absurd).rate()).isEqualTo(ShareRule.MAX_RATE);
        assertThat(ledger.allocation(absurd).shareKnown()).isFalse();
        assertThat(ledger.budget("a").standing(ledger.clock.instant()).word())
                .isEqualTo("OverBudget");
        assertThat(ledger.used("b")).isEqualTo(GpuTime.ofMinutes("20880"));
        assertThat(ledger.differences()).isEmpty();
    }
}
