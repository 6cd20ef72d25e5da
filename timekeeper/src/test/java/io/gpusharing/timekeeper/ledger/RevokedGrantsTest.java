package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.Course;
import io.gpusharing.timekeeper.budget.Course.Credit;
import io.gpusharing.timekeeper.budget.Course.Kind;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
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

    private final Books books = new Books(TEN, monthly("a", TEN, "30", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);

    private void useAnHourAndSixMinutes(Given... grants) {
        books.grants(grants);
        books.told(pod);
        books.pass(Duration.ofMinutes(66));
        books.told(pod.finishedAt(books.clock.instant()));
    }

    private Course course() {
        return Objects.requireNonNull(
                books.balances().stretch("a", TEN, books.clock.instant()).orElseThrow().course());
    }

    private static long micros(String minutes) {
        return GpuTime.ofMinutes(minutes).microGpuSeconds();
    }

    @Test
    void whatWasBurnedOfTheAllowanceStaysBurnedWhenAGrantIsDeleted() {
        useAnHourAndSixMinutes(GRANT);

        books.grants();
        books.pass(Duration.ofSeconds(1));

        assertThat(books.budget("a").remaining(books.clock.instant())).contains(GpuTime.ZERO);
        assertThat(books.budget("a").granted(books.clock.instant()))
                .contains(GpuTime.ofMinutes("66"));
    }

    @Test
    void aDeletedGrantIsCalledRevokedAndNotExpired() {
        useAnHourAndSixMinutes(GRANT);
        Instant deleted = books.clock.instant();

        books.grants();
        books.pass(Duration.ofSeconds(1));

        assertThat(course().credits())
                .containsExactly(
                        new Credit(TEN, Kind.Allowance, "allowance", micros("30")),
                        new Credit(TEN, Kind.Grant, "paper", micros("300")),
                        new Credit(deleted, Kind.Revoked, "paper", -micros("264")));
    }

    @Test
    void aGrantThatIsDeletedAfterItsEndHasExpired() {
        Instant end = TEN.plus(Duration.ofHours(2));
        useAnHourAndSixMinutes(new Given("paper", "a", "300", TEN, end));
        books.pass(Duration.ofHours(2));

        books.grants();
        books.pass(Duration.ofSeconds(1));

        assertThat(course().credits()).last().extracting(Credit::kind).isEqualTo(Kind.Expired);
    }

    /** What it had burned of a later grant would else come back in the next period. */
    @Test
    void aPeriodThatClosesAfterADeletionCarriesOverWhatWasLeftThen() {
        useAnHourAndSixMinutes(
                new Given("long", "a", "60", TEN, MAY),
                new Given("longer", "a", "60", TEN, MAY.plus(Duration.ofDays(1))));

        books.grants(new Given("long", "a", "60", TEN, MAY));
        books.pass(Duration.ofDays(31));

        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("54"));
        assertThat(books.differences()).isEmpty();
    }

    /** Nothing of the past may change because a new version runs. */
    @Test
    void aGrantThatWasDeletedUnderAnEarlierVersionStaysAsItWasCountedThen() {
        useAnHourAndSixMinutes(GRANT);
        books.grants();
        books.database.jdbc().sql("update budget_grant set ended_first = true").update();

        books.restart();
        books.pass(Duration.ofSeconds(1));

        assertThat(books.budget("a").remaining(books.clock.instant()))
                .contains(GpuTime.ofMinutes("30"));
    }
}
