package io.gpusharing.timekeeper.ledger.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

/** One month of charges is kept, and the current month. The database's clock is right. */
class PartitionsTest {

    private static final Duration A_MONTH = Duration.ofDays(31);
    private static final Duration YEAR = Duration.ofDays(365);

    private final TestDatabase database = TestDatabase.create();
    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    private final YearMonth month = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    private final SteppingClock clock = new SteppingClock(now);
    private final Partitions partitions = retaining(Period.ofMonths(1));

    private Partitions retaining(Period period) {
        return new Partitions(
                database.jdbc(),
                new TransactionTemplate(database.transactions()),
                new LedgerProperties(
                        Duration.ZERO,
                        Duration.ZERO,
                        Duration.ZERO,
                        period,
                        Duration.ofMinutes(10),
                        10,
                        5_000),
                Leadership.alone(),
                clock);
    }

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

    /** What the ledger writes beside the charges. */
    private void accounted() {
        database.jdbc()
                .sql(
                        """
                        insert into cluster (id, metering_start) values ('test', '2026-01-01');
                        insert into usage_hour select cluster, budget, namespace, charged_from, amount from charge;
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget, rate, share_rate, compute_part,
                            memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, held_until)
                        select cluster, pod_uid, namespace, 'p', 'n', budget, rate, rate, 1, 1, 1, 1000000, 1, 1000000, true,
                            charged_from, charged_to, charged_to, charged_to from charge
                        """)
                .update();
    }

    private Verification.Report verified() {
        return Verifications.on(database, List.of()).run();
    }

    private static Instant begin(YearMonth month) {
        return month.atDay(1).atStartOfDay(ZoneOffset.UTC).toInstant();
    }

    /** Partitions are maintained half a year ago, as they are now. */
    private void halfAYearAgo() {
        clock.pass(Duration.ofDays(-180));
        partitions.work(clock.instant());
        clock.pass(Duration.ofDays(180));
    }

    @Test
    void monthsToComeHaveTablesOfTheirOwnAndOldOnesAreDropped() {
        halfAYearAgo();
        partitions.work(clock.instant());
        assertThat(partitions.months()).hasSize(8);

        charged(month);
        partitions.work(clock.instant());

        assertThat(partitions.months())
                .containsExactlyElementsOf(months(month, month.plusMonths(3)));
    }

    @Test
    void whoReadsChargesWaitsForNoMonthThatIsBeingMade() throws Exception {
        try (Connection reader = database.dataSource().getConnection();
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            // As far as a question gets before it comes to the single months.
            statement.execute("lock table only charge in access share mode");
            Thread making = Thread.ofVirtual().start(this::tryToWork);
            await().until(() -> waiting() > 0);

            assertThat(statement.execute("select count(*) from charge")).isTrue();

            reader.commit();
            making.join();
        }
        partitions.work(clock.instant());
        assertThat(partitions.months()).hasSize(4);
    }

    private void tryToWork() {
        try {
            partitions.work(clock.instant());
        } catch (RuntimeException e) {
            // It gives way after a second, and tries again.
        }
    }

    private int waiting() {
        return database.jdbc()
                .sql("select count(*) from pg_locks where not granted")
                .query(Integer.class)
                .single();
    }

    @Test
    void monthsFromWhichAnOpenPeriodOrAPodThatIsChargedByUseIsComputedAreKept() {
        halfAYearAgo();
        partitions.work(clock.instant());
        charged(month);
        YearMonth began = month.minusMonths(5);
        YearMonth measured = month.minusMonths(4);
        database.jdbc()
                .sql("insert into cluster (id, metering_start) values ('test', now())")
                .update();
        database.jdbc()
                .sql(
                        """
                        insert into budget_period (cluster, budget, period_start, period_end, counted_from)
                        values ('test', 'a', now() - interval '1 year', now() + interval '1 year', :began::timestamptz)
                        """)
                .param("began", began + "-02T10:24:13Z")
                .update();
        database.jdbc()
                .sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget, rate, share_rate,
                            compute_part, memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, use_since)
                        values ('test', gen_random_uuid(), 'team-a', 'p', 'n', 'a', 1, 1, 1, 1, 1, 1000000, 1, 1000000, true,
                            :from::timestamptz, :from::timestamptz, :from::timestamptz, :from::timestamptz)
                        """)
                .param("from", measured + "-05T06:07:08Z")
                .update();

        partitions.work(clock.instant());
        assertThat(partitions.months()).startsWith(months(began, began).getFirst());

        database.jdbc()
                .sql("update budget_period set period_end = now() - interval '3 days'")
                .update();
        partitions.work(clock.instant());
        assertThat(partitions.months()).startsWith(months(measured, measured).getFirst());

        database.jdbc()
                .sql("update pod_allocation set held_until = now() - interval '3 days'")
                .update();
        partitions.work(clock.instant());
        assertThat(partitions.months()).startsWith(months(month, month).getFirst());
    }

    @Test
    void chargesFromBeforeTheirMonthHadAPartitionMoveIntoIt() {
        charged(month);
        charged(month.minusMonths(1));

        partitions.work(clock.instant());

        assertThat(partitions.months())
                .containsExactlyElementsOf(months(month, month.plusMonths(3)));
        assertThat(count(months(month, month).getFirst())).isEqualTo(1);
        assertThat(count("charge")).isEqualTo(2);
    }

    private long count(String table) {
        return database.jdbc().sql("select count(*) from " + table).query(Long.class).single();
    }

    @Test
    void verificationLeavesOutWhatWasDroppedHoweverLongChargesAreKeptFromNowOn() {
        clock.set(begin(month.minusMonths(6)));
        partitions.work(clock.instant());
        clock.set(now);
        charged(month.minusMonths(5));
        charged(month);
        accounted();
        assertThat(verified().since()).isNull();
        assertThat(verified().differences()).isEmpty();

        // Months -6 to -3 had tables.
        partitions.work(clock.instant());
        assertThat(verified().since()).isEqualTo(begin(month.minusMonths(2)));
        assertThat(verified().differences()).isEmpty();

        retaining(Period.ofMonths(13)).work(clock.instant());
        retaining(Period.ZERO).work(clock.instant());
        assertThat(verified().since()).isEqualTo(begin(month.minusMonths(2)));
        assertThat(verified().differences()).isEmpty();
    }

    @Test
    void monthsThatNeverHadATableAreNotLeftOut() {
        charged(month);
        charged(month.minusMonths(4));
        accounted();

        partitions.work(clock.instant());

        assertThat(verified().since()).isNull();
        assertThat(verified().differences()).isEmpty();
        database.jdbc().sql("delete from charge_default").update();
        assertThat(verified().differences())
                .extracting(Verification.Difference::kind)
                .containsExactlyInAnyOrder("hour", "allocation", "gap");
    }

    @Test
    void aLongReadDelaysNeitherDroppingNorPosting() {
        partitions.work(clock.instant());
        clock.pass(A_MONTH);

        new TransactionTemplate(database.transactions())
                .executeWithoutResult(reading -> {
                    database.jdbc().sql("select count(*) from charge").query(Long.class).single();
                    assertThat(CompletableFuture.runAsync(() -> partitions.work(clock.instant())))
                            .failsWithin(Duration.ofSeconds(30))
                            .withThrowableThat()
                            .withRootCauseInstanceOf(SQLException.class);
                });
        assertThat(partitions.months()).hasSize(4);

        partitions.work(clock.instant());
        assertThat(partitions.months()).hasSizeGreaterThan(4);
    }

    @Test
    void aClockThatIsAYearAheadDropsNothing() {
        partitions.work(clock.instant());
        charged(month);

        clock.pass(YEAR);
        partitions.work(clock.instant());

        assertThat(partitions.months()).containsAll(months(month, month.plusMonths(3)));
    }

    @Test
    void theLatestChargesAreKeptWhateverTheClocksSay() {
        halfAYearAgo();
        YearMonth old = month.minusMonths(5);
        charged(old);

        partitions.work(clock.instant());

        assertThat(partitions.months()).containsAll(months(old, old));
    }
}
