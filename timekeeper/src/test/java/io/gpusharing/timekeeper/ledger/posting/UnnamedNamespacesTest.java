package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Namespaces that no budget names, where the installation gives them one by default. */
class UnnamedNamespacesTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant MADE = TEN.plusSeconds(3);
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    private final TestLedger ledger = TestLedger.withDefault("PerNamespace", TEN);
    private final Pods pod = Pods.waiting("team-new", 50, 15).boundAt(TEN);

    @Test
    void theFirstPodIsChargedFromItsStartThoughItsBudgetIsMadeSecondsLater() {
        ledger.onUpdate(pod);
        ledger.clock.pass(Duration.ofSeconds(4));

        ledger.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        ledger.pass(TEN_MINUTES.minusSeconds(4));

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("5"));
        assertThat(ledger.used("team-new")).isEqualTo(GpuTime.ofMinutes("5"));
    }

    @Test
    void aPodThatEndedBeforeItsBudgetWasCreatedIsChargedToo() {
        ledger.onUpdate(pod);
        ledger.clock.pass(Duration.ofSeconds(2));
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(2)));
        ledger.clock.pass(Duration.ofSeconds(2));

        ledger.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.used("team-new")).isEqualTo(new GpuTime(1_000_000));
    }

    @Test
    void thatHoldsAcrossARestartBetweenPodAndBudget() {
        ledger.onUpdate(pod);
        ledger.clock.pass(Duration.ofSeconds(2));
        ledger.restart();

        ledger.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        ledger.pass(TEN_MINUTES.minusSeconds(2));

        assertThat(ledger.used("team-new")).isEqualTo(GpuTime.ofMinutes("5"));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aBudgetThatAnAdministratorMakesChargesFromItsOwnBeginOnly() {
        ledger.onUpdate(pod);
        ledger.clock.pass(Duration.ofMinutes(4));

        ledger.exist(monthly("research", TEN.plusSeconds(240), "100", "team-new"));
        ledger.pass(Duration.ofMinutes(6));

        assertThat(ledger.used("research")).isEqualTo(GpuTime.ofMinutes("3"));
    }

    @Test
    void anotherBudgetWithTheNamespacesNameDoesNotPayForIt() {
        ledger.exist(monthly("team-new", TEN, "100", "others"));

        ledger.onUpdate(pod);
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.used("team-new")).isEqualTo(GpuTime.ZERO);
        assertThat(ledger.allocation(pod).budget()).isEqualTo(Payer.NOBODY);
    }

    @Test
    void whereAllShareOneItPaysForEachOfThemFromItsStart() {
        TestLedger shared = TestLedger.withDefault("Shared", TEN);
        Pods other = Pods.waiting("team-newer", 50, 15).boundAt(TEN);
        shared.onUpdate(pod);
        shared.onUpdate(other);
        shared.clock.pass(Duration.ofSeconds(4));

        shared.exist(
                monthly("unnamed-namespaces", MADE, "100", "team-new", "team-newer")
                        .byDefaultItself());
        shared.pass(TEN_MINUTES.minusSeconds(4));

        assertThat(shared.used("unnamed-namespaces")).isEqualTo(GpuTime.ofMinutes("10"));
    }
}
