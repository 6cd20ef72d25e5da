package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Namespaces that no budget names, where the installation gives them one by default. */
class UnnamedNamespacesTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant MADE = TEN.plusSeconds(3);
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    private final Books books = Books.withDefault("PerNamespace", TEN);
    private final Pods pod = Pods.waiting("team-new", 50, 15).boundAt(TEN);

    @Test
    void theFirstPodIsChargedFromItsStartThoughItsBudgetIsMadeSecondsLater() {
        books.told(pod);
        books.clock.pass(Duration.ofSeconds(4));

        books.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        books.pass(TEN_MINUTES.minusSeconds(4));

        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("5"));
        assertThat(books.used("team-new")).isEqualTo(GpuTime.ofMinutes("5"));
    }

    @Test
    void soIsOneThatEndedBeforeItsBudgetWasMade() {
        books.told(pod);
        books.clock.pass(Duration.ofSeconds(2));
        books.told(pod.finishedAt(TEN.plusSeconds(2)));
        books.clock.pass(Duration.ofSeconds(2));

        books.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        books.pass(TEN_MINUTES);

        assertThat(books.used("team-new")).isEqualTo(new GpuTime(1_000_000));
    }

    @Test
    void itStaysSoOverARestartBetweenPodAndBudget() {
        books.told(pod);
        books.clock.pass(Duration.ofSeconds(2));
        books.restart();

        books.exist(monthly("team-new", MADE, "100", "team-new").byDefaultItself());
        books.pass(TEN_MINUTES.minusSeconds(2));

        assertThat(books.used("team-new")).isEqualTo(GpuTime.ofMinutes("5"));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aBudgetThatAnAdministratorMakesChargesFromItsOwnBeginOnly() {
        books.told(pod);
        books.clock.pass(Duration.ofMinutes(4));

        books.exist(monthly("research", TEN.plusSeconds(240), "100", "team-new"));
        books.pass(Duration.ofMinutes(6));

        assertThat(books.used("research")).isEqualTo(GpuTime.ofMinutes("3"));
    }

    @Test
    void aBudgetOfSomebodyElseThatBearsTheNamespacesNamePaysNothing() {
        books.exist(monthly("team-new", TEN, "100", "others"));

        books.told(pod);
        books.pass(TEN_MINUTES);

        assertThat(books.used("team-new")).isEqualTo(GpuTime.ZERO);
        assertThat(books.stay(pod).budget()).isEqualTo(Tariff.NOBODY);
    }

    @Test
    void whereAllShareOneItPaysForEachOfThemFromItsStart() {
        Books shared = Books.withDefault("Shared", TEN);
        Pods other = Pods.waiting("team-newer", 50, 15).boundAt(TEN);
        shared.told(pod);
        shared.told(other);
        shared.clock.pass(Duration.ofSeconds(4));

        shared.exist(
                monthly("unnamed-namespaces", MADE, "100", "team-new", "team-newer")
                        .byDefaultItself());
        shared.pass(TEN_MINUTES.minusSeconds(4));

        assertThat(shared.used("unnamed-namespaces")).isEqualTo(GpuTime.ofMinutes("10"));
    }
}
