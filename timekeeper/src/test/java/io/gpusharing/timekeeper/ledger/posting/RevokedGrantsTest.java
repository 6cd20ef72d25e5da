package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.budget.account.AccountStatement.BalanceChange;
import io.gpusharing.timekeeper.budget.account.AccountStatement.Kind;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** An allowance of 30 minutes, a grant of 300 that ends with it, and 66 minutes of use. */
class RevokedGrantsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant MAY = Instant.parse("2026-05-01T00:00:00Z");
    private static final Given GRANT = new Given("paper", "a", "300", TEN);

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "30", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);

    private void useAnHourAndSixMinutes(Given... grants) {
        ledger.grants(grants);
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(66));
        ledger.onUpdate(pod.finishedAt(ledger.clock.instant()));
    }

    private AccountStatement statement() {
        return Objects.requireNonNull(
                ledger.balances()
                        .stretch("a", TEN, ledger.clock.instant())
                        .orElseThrow()
                        .statement());
    }

    private static long micros(String minutes) {
        return GpuTime.ofMinutes(minutes).microGpuSeconds();
    }

    @Test
    void useOfTheAllowanceRemainsWhenAGrantIsDeleted() {
        useAnHourAndSixMinutes(GRANT);

        ledger.grants();
        ledger.pass(Duration.ofSeconds(1));

        assertThat(ledger.budget("a").remaining(ledger.clock.instant())).contains(GpuTime.ZERO);
        assertThat(ledger.budget("a").granted(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("66"));
    }

    @Test
    void aGrantThatIsDeletedWhileNoTimekeeperRunsEndsAtTheNextStart() {
        ledger.grants(GRANT);
        ledger.pass(Duration.ofMinutes(1));

        ledger.restart();
        ledger.grants();
        ledger.pass(Duration.ZERO);

        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("30"));
    }

    @Test
    void aDeletedGrantIsCalledRevokedAndNotExpired() {
        useAnHourAndSixMinutes(GRANT);
        Instant deleted = ledger.clock.instant();

        ledger.grants();
        ledger.pass(Duration.ofSeconds(1));

        assertThat(statement().changes())
                .containsExactly(
                        new BalanceChange(TEN, Kind.Allowance, "allowance", micros("30")),
                        new BalanceChange(TEN, Kind.Grant, "paper", micros("300")),
                        new BalanceChange(deleted, Kind.Revoked, "paper", -micros("264")));
    }

    @Test
    void aGrantThatIsDeletedAfterItsEndHasExpired() {
        Instant end = TEN.plus(Duration.ofHours(2));
        useAnHourAndSixMinutes(new Given("paper", "a", "300", TEN, end));
        ledger.pass(Duration.ofHours(2));

        ledger.grants();
        ledger.pass(Duration.ofSeconds(1));

        assertThat(statement().changes())
                .last()
                .extracting(BalanceChange::kind)
                .isEqualTo(Kind.Expired);
    }

    /** Otherwise its use of a later grant would come back in the next period. */
    @Test
    void aPeriodThatClosesAfterADeletionCarriesOverWhatWasLeftThen() {
        useAnHourAndSixMinutes(
                new Given("long", "a", "60", TEN, MAY),
                new Given("longer", "a", "60", TEN, MAY.plus(Duration.ofDays(1))));

        ledger.grants(new Given("long", "a", "60", TEN, MAY));
        ledger.pass(Duration.ofDays(31));

        assertThat(ledger.budget("a").remaining(ledger.clock.instant()))
                .contains(GpuTime.ofMinutes("54"));
        assertThat(ledger.differences()).isEmpty();
    }
}
