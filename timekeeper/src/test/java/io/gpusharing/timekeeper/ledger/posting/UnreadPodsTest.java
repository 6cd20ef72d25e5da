package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that are there and cannot be read any more. */
class UnreadPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPodThatAListCannotReadIsChargedOn(boolean resuming) {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));

        ledger.listedUnread(resuming, pod);
        ledger.pass(Duration.ofMinutes(10));

        assertThat(ledger.allocation(pod).open()).isTrue();
        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("10"));
    }

    @Test
    void aPodThatCouldNotBeReadAndHasGoneHasEnded() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(10));
        ledger.listedUnread(false, pod);
        ledger.pass(Duration.ofMinutes(10));

        ledger.vanished(pod);
        ledger.listedAnew();

        assertThat(ledger.allocation(pod).open()).isFalse();
        assertThat(ledger.allocation(pod).estimated()).isTrue();
    }

    @Test
    void aPodThatASweepCannotReadIsChargedOn() {
        ledger.pass(Duration.ofMinutes(15));
        ledger.sweepFinds(pod);
        ledger.pass(Duration.ofMinutes(15));

        ledger.sweepFindsBesideUnread(Set.of(pod.uid()));

        assertThat(ledger.allocation(pod).open()).isTrue();
    }
}
