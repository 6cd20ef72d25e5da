package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.budget;
import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.Misread;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.Unlimited;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What an administrator can write that passes the schema and makes no sense. */
class NotUnderstoodTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");
    private static final long MINUTE = 60_000_000;

    private final Written sound = monthly("sound", START, "100", "team-a");
    private final Written martian =
            budget("martian", START, "100", Unit.Month, "Mars/Phobos", "0", 25, "team-b");

    @Test
    void aBudgetThatMakesNoSenseIsCountedWithoutALimitAndTheOthersGoOn() {
        var books = new Books(START, sound, martian);
        books.told(Pods.waiting("team-a", 100, 60).boundAt(START));
        books.told(Pods.waiting("team-b", 100, 60).boundAt(START));

        books.pass(Duration.ofMinutes(2));

        assertThat(books.used("sound").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(books.budget("sound").misread()).isNull();
        assertThat(books.used("martian").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(books.budget("martian").standing(books.clock.instant()))
                .isEqualTo(new Unlimited());
        assertThat(books.budget("martian").misread())
                .extracting(Misread::field)
                .isEqualTo("spec.period.timeZone");
    }

    @Test
    void itIsHeldToItsLimitOnceItIsMendedAndForgottenOnceItIsDeleted() {
        var books = new Books(START, sound, martian);
        books.told(Pods.waiting("team-b", 100, 60).boundAt(START));
        books.pass(Duration.ofMinutes(2));

        books.exist(sound, monthly("martian", START, "100", "team-b"));
        books.pass(Duration.ofMinutes(1));
        assertThat(books.budget("martian").misread()).isNull();
        assertThat(books.budget("martian").remaining(books.clock.instant()).orElseThrow().minutes())
                .isEqualTo("97.000");

        books.exist(sound);
        books.pass(Duration.ofMinutes(1));
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void aSlipInOneFieldChangesNeitherWhatPodsCostNorWhereAPeriodEnds() {
        var books =
                new Books(
                        START,
                        martian.fixed(50, 30),
                        budget(
                                "lots",
                                START,
                                "a lot",
                                Unit.Day,
                                "Europe/Berlin",
                                "0",
                                25,
                                "team-c"));
        books.told(Pods.waiting("team-b", 25, 15).boundAt(START));

        books.pass(Duration.ofMinutes(2));

        assertThat(books.used("martian").microGpuSeconds())
                .as("a quarter of a GPU is half of what counts as one")
                .isEqualTo(MINUTE);
        assertThat(books.budget("martian").period().start()).isEqualTo("2026-03-01T00:00:00Z");
        assertThat(books.budget("lots").misread())
                .extracting(Misread::field)
                .isEqualTo("spec.gpuMinutes");
        assertThat(books.budget("lots").period().end()).isEqualTo("2026-03-02T23:00:00Z");
    }

    @Test
    void whatCountsAsOneGpuIsAWholeOneIfThatIsTheSlip() {
        var books = new Books(START, monthly("a", START, "100", "team-b").fixed(0, 0));
        books.told(Pods.waiting("team-b", 50, 30).boundAt(START));

        books.pass(Duration.ofMinutes(2));

        assertThat(books.used("a").microGpuSeconds()).isEqualTo(MINUTE);
    }

    @Test
    void grantsBeyondAllMeasureAreAsGoodAsNoLimitAndStopNobody() {
        var books = new Books(START, sound, monthly("other", START, "1", "team-b"));
        books.told(Pods.waiting("team-a", 100, 60).boundAt(START));
        books.told(Pods.waiting("team-b", 100, 60).boundAt(START));

        books.grants(
                IntStream.range(0, 160)
                        .mapToObj(i -> new Given("grant-" + i, "sound", "999999999", START))
                        .toArray(Given[]::new));
        books.pass(Duration.ofMinutes(2));

        assertThat(books.budget("sound").standing(books.clock.instant()))
                .isInstanceOf(InBudget.class);
        assertThat(books.used("sound").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(books.used("other").microGpuSeconds()).isEqualTo(2 * MINUTE);

        books.grants();
        books.pass(Duration.ofMinutes(1));
        assertThat(books.budget("sound").remaining(books.clock.instant()).orElseThrow().minutes())
                .as("what was used of the allowance, which comes first by name, stays used")
                .isEqualTo("97.000");
    }

    @Test
    void rowsThatCannotBeSummedTakeTheLimitFromTheirBudgetAloneUntilTheyAreMended() {
        Instant start = START.plus(Duration.ofMinutes(30));
        Pods pod = Pods.waiting("team-b", 100, 60).boundAt(start);
        Written broken = budget("broken", start, "100", Unit.Day, "UTC", "100", 25, "team-b");
        var books = new Books(start, monthly("sound", start, "100", "team-a"), broken);
        books.told(Pods.waiting("team-a", 100, 60).boundAt(start));
        books.told(pod);
        books.pass(Duration.ofMinutes(2));

        books.database
                .jdbc()
                .sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        values ('test', gen_random_uuid(), '2026-03-02T10:31:00.1234567Z',
                                '2026-03-02T10:32:00Z', 'team-b', 'broken', 1, 60)
                        """)
                .update();
        books.restart();
        books.pass(Duration.ofMinutes(3));

        assertThat(books.used("sound").microGpuSeconds()).isEqualTo(5 * MINUTE);
        assertThat(books.budget("sound").misread()).isNull();
        assertThat(books.budget("broken").standing(books.clock.instant()))
                .isEqualTo(new Unlimited());
        assertThat(Objects.requireNonNull(books.budget("broken").misread()).message())
                .contains("team-b used", "begins or ends within a second");

        // Also a day ends meanwhile, and what it leaves is not lost.
        books.pass(Duration.ofHours(14));
        assertThat(books.charged(pod).microGpuSeconds()).isEqualTo((14 * 60 + 5) * MINUTE);
        assertThat(books.used("sound").microGpuSeconds()).isEqualTo((14 * 60 + 5) * MINUTE);
        books.database.jdbc().sql("delete from charge where rate = 1").update();
        books.pass(Duration.ofMinutes(1));

        assertThat(books.budget("broken").misread()).isNull();
        assertThat(books.used("broken").microGpuSeconds()).isEqualTo(36 * MINUTE);
        assertThat(books.budget("broken").remaining(books.clock.instant()).orElseThrow().minutes())
                .as("100 minutes less a quarter of them, which the day before had overrun")
                .isEqualTo("39.000");
        assertThat(books.differences()).isEmpty();
    }
}
