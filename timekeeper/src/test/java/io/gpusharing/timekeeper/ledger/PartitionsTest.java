package io.gpusharing.timekeeper.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** One month of charges is kept, and the month that runs. The database's clock is right. */
class PartitionsTest {

    private static final Duration YEAR = Duration.ofDays(365);

    private final TestDatabase database = TestDatabase.create();
    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    private final YearMonth month = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    private final SteppingClock clock = new SteppingClock(now);
    private final Partitions partitions =
            new Partitions(
                    database.jdbc(),
                    new LedgerProperties(
                            Duration.ZERO,
                            Duration.ZERO,
                            Duration.ZERO,
                            Period.ofMonths(1),
                            Duration.ofMinutes(10),
                            10),
                    Leadership.alone(),
                    clock);

    private List<String> months(YearMonth first, YearMonth last) {
        return IntStream.rangeClosed(0, (int) first.until(last, ChronoUnit.MONTHS))
                .mapToObj(first::plusMonths)
                .map(it -> "charge_m" + it.toString().replace("-", ""))
                .toList();
    }

    private void charged(YearMonth month) {
        String from = month + "-01T00:00:00Z";
        String to = month + "-01T01:00:00Z";
        database.jdbc()
                .sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        values ('test', :pod, :from::timestamptz, :to::timestamptz, 'team-a', 'a', 1, 3600)
                        """)
                .param("pod", UUID.randomUUID())
                .param("from", from)
                .param("to", to)
                .update();
    }

    /** Months are tended half a year ago, as they are now. */
    private void halfAYearAgo() {
        clock.pass(Duration.ofDays(-180));
        partitions.tend();
        clock.pass(Duration.ofDays(180));
    }

    @Test
    void monthsToComeHaveTablesOfTheirOwnAndOldOnesAreDropped() {
        halfAYearAgo();
        partitions.tend();
        assertThat(partitions.months()).hasSize(8);

        charged(month);
        partitions.tend();

        assertThat(partitions.months())
                .containsExactlyElementsOf(months(month, month.plusMonths(3)));
    }

    @Test
    void aClockThatIsAYearAheadDropsNothing() {
        partitions.tend();
        charged(month);

        clock.pass(YEAR);
        partitions.tend();

        assertThat(partitions.months()).containsAll(months(month, month.plusMonths(3)));
    }

    @Test
    void whatWasChargedLastIsKeptAlthoughAllClocksSayThatItIsOld() {
        halfAYearAgo();
        YearMonth old = month.minusMonths(5);
        charged(old);

        partitions.tend();

        assertThat(partitions.months()).containsAll(months(old, old));
    }

    @Test
    void aClockThatWasAheadPutsNothingOffOnceItIsRight() {
        clock.pass(YEAR);
        partitions.check();
        clock.pass(YEAR.negated());

        partitions.check();

        assertThat(partitions.months()).containsAll(months(month, month.plusMonths(3)));
    }
}
