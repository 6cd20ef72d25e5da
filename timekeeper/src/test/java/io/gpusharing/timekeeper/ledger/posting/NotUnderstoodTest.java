package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.budget;
import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.InvalidSpec;
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
        var ledger = new TestLedger(START, sound, martian);
        ledger.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(START));
        ledger.onUpdate(Pods.waiting("team-b", 100, 60).boundAt(START));

        ledger.pass(Duration.ofMinutes(2));

        assertThat(ledger.used("sound").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(ledger.budget("sound").invalidSpec()).isNull();
        assertThat(ledger.used("martian").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(ledger.budget("martian").standing(ledger.clock.instant()))
                .isEqualTo(new Unlimited());
        assertThat(ledger.budget("martian").invalidSpec())
                .extracting(InvalidSpec::field)
                .isEqualTo("spec.period.timeZone");
    }

    @Test
    void itIsHeldToItsLimitOnceItIsMendedAndForgottenOnceItIsDeleted() {
        var ledger = new TestLedger(START, sound, martian);
        ledger.onUpdate(Pods.waiting("team-b", 100, 60).boundAt(START));
        ledger.pass(Duration.ofMinutes(2));

        ledger.exist(sound, monthly("martian", START, "100", "team-b"));
        ledger.pass(Duration.ofMinutes(1));
        assertThat(ledger.budget("martian").invalidSpec()).isNull();
        assertThat(
                        ledger.budget("martian")
                                .remaining(ledger.clock.instant())
                                .orElseThrow()
                                .minutes())
                .isEqualTo("97.000");

        ledger.exist(sound);
        ledger.pass(Duration.ofMinutes(1));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aSlipInOneFieldChangesNeitherWhatPodsCostNorWhereAPeriodEnds() {
        var ledger =
                new TestLedger(
                        START,
                        martian.fixed(50, 30),
                        budget(
                                "credits",
                                START,
                                "a credit",
                                Unit.Day,
                                "Europe/Berlin",
                                "0",
                                25,
                                "team-c"));
        ledger.onUpdate(Pods.waiting("team-b", 25, 15).boundAt(START));

        ledger.pass(Duration.ofMinutes(2));

        assertThat(ledger.used("martian").microGpuSeconds())
                .as("a quarter of a GPU is half of what counts as one")
                .isEqualTo(MINUTE);
        assertThat(ledger.budget("martian").period().start()).isEqualTo("2026-03-01T00:00:00Z");
        assertThat(ledger.budget("credits").invalidSpec())
                .extracting(InvalidSpec::field)
                .isEqualTo("spec.gpuMinutes");
        assertThat(ledger.budget("credits").period().end()).isEqualTo("2026-03-02T23:00:00Z");
    }

    @Test
    void anInvalidReferenceCountsAsAWholeGpu() {
        var ledger = new TestLedger(START, monthly("a", START, "100", "team-b").fixed(0, 0));
        ledger.onUpdate(Pods.waiting("team-b", 50, 30).boundAt(START));

        ledger.pass(Duration.ofMinutes(2));

        assertThat(ledger.used("a").microGpuSeconds()).isEqualTo(MINUTE);
    }

    @Test
    void excessiveGrantsCountAsNoLimitAndStopNoOtherBudget() {
        var ledger = new TestLedger(START, sound, monthly("other", START, "1", "team-b"));
        ledger.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(START));
        ledger.onUpdate(Pods.waiting("team-b", 100, 60).boundAt(START));

        ledger.grants(
                IntStream.range(0, 160)
                        .mapToObj(i -> new Given("grant-" + i, "sound", "999999999", START))
                        .toArray(Given[]::new));
        ledger.pass(Duration.ofMinutes(2));

        assertThat(ledger.budget("sound").standing(ledger.clock.instant()))
                .isInstanceOf(InBudget.class);
        assertThat(ledger.used("sound").microGpuSeconds()).isEqualTo(2 * MINUTE);
        assertThat(ledger.used("other").microGpuSeconds()).isEqualTo(2 * MINUTE);

        ledger.grants();
        ledger.pass(Duration.ofMinutes(1));
        assertThat(ledger.budget("sound").remaining(ledger.clock.instant()).orElseThrow().minutes())
                .as("what was used of the allowance, which comes first by name, is still used")
                .isEqualTo("97.000");
    }

    @Test
    void rowsThatCannotBeSummedTakeTheLimitFromTheirBudgetAloneUntilTheyAreMended() {
        Instant start = START.plus(Duration.ofMinutes(30));
        Pods pod = Pods.waiting("team-b", 100, 60).boundAt(start);
        Written broken = budget("broken", start, "100", Unit.Day, "UTC", "100", 25, "team-b");
        var ledger = new TestLedger(start, monthly("sound", start, "100", "team-a"), broken);
        ledger.onUpdate(Pods.waiting("team-a", 100, 60).boundAt(start));
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofMinutes(2));

        ledger.database
                .jdbc()
                .sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        values ('test', gen_random_uuid(), '2026-03-02T10:31:00.1234567Z',
                                '2026-03-02T10:32:00Z', 'team-b', 'broken', 1, 60)
                        """)
                .update();
        ledger.restart();
        ledger.pass(Duration.ofMinutes(3));

        assertThat(ledger.used("sound").microGpuSeconds()).isEqualTo(5 * MINUTE);
        assertThat(ledger.budget("sound").invalidSpec()).isNull();
        assertThat(ledger.budget("broken").standing(ledger.clock.instant()))
                .isEqualTo(new Unlimited());
        assertThat(Objects.requireNonNull(ledger.budget("broken").invalidSpec()).message())
                .contains("team-b used", "begins or ends within a second");

        // Also a day ends meanwhile, and what it leaves is not lost.
        ledger.pass(Duration.ofHours(14));
        assertThat(ledger.charged(pod).microGpuSeconds()).isEqualTo((14 * 60 + 5) * MINUTE);
        assertThat(ledger.used("sound").microGpuSeconds()).isEqualTo((14 * 60 + 5) * MINUTE);
        ledger.database.jdbc().sql("delete from charge where rate = 1").update();
        ledger.pass(Duration.ofMinutes(1));

        assertThat(ledger.budget("broken").invalidSpec()).isNull();
        assertThat(ledger.used("broken").microGpuSeconds()).isEqualTo(36 * MINUTE);
        assertThat(
                        ledger.budget("broken")
                                .remaining(ledger.clock.instant())
                                .orElseThrow()
                                .minutes())
                .as("100 minutes less a quarter of them, which the day before had overrun")
                .isEqualTo("39.000");
        assertThat(ledger.differences()).isEmpty();
    }
}
