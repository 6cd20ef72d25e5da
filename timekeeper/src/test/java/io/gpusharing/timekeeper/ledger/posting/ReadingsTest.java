package io.gpusharing.timekeeper.ledger.posting;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingLong;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import io.gpusharing.timekeeper.statement.StatementLine;
import io.gpusharing.timekeeper.statement.StatementLine.Place;
import io.gpusharing.timekeeper.statement.StatementRepository;
import io.gpusharing.timekeeper.statement.StatementRepository.Lines;
import io.gpusharing.timekeeper.statement.StatementRepository.PodUse;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;

/** Queries of a part of the ledger agree with reading all of it. */
class ReadingsTest {

    private static final Instant TEN = Instant.parse("2026-03-31T22:00:00Z");
    private static final int SECONDS = 4 * 3600;

    private static TestDatabase database;

    @BeforeAll
    static void openDatabase() {
        database = TestDatabase.create();
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('test', '2026-01-01T00:00:00Z')")
                .update();
    }

    private record Row(UUID pod, Instant from, Instant to, long rate, Instant postedAt) {

        long amount() {
            return rate * Duration.between(from, to).toSeconds();
        }

        /** Micro-GPU-seconds of it that lie in a span. */
        long used(Instant begin, Instant end) {
            Instant first = from.isAfter(begin) ? from : begin;
            Instant last = to.isBefore(end) ? to : end;
            return first.isBefore(last) ? rate * Duration.between(first, last).toSeconds() : 0;
        }
    }

    @ParameterizedTest
    @RandomSeeds(8)
    void pagesOfAStatementAreItsLinesAndNoneIsEmptyBeforeTheLast(long seed) {
        var random = new Random(seed);
        String budget = "pages " + seed;
        List<Row> rows = rows(random, budget);
        rows.addAll(running(random, budget));
        StatementRepository round = new StatementRepository(database.rows());
        for (int i = 0; i < 20; i++) {
            Instant from = TEN.plusSeconds(random.nextInt(SECONDS) - 1_800);
            Instant to = from.plusSeconds(1 + random.nextInt(SECONDS));
            int size = 1 + random.nextInt(12);

            List<StatementLine> whole =
                    round.lines(budget, from, to, Place.START, Integer.MAX_VALUE).lines();
            var paged = new ArrayList<StatementLine>();
            Lines page = round.lines(budget, from, to, Place.START, size);
            while (!page.last()) {
                assertThat(page.lines()).hasSizeBetween(1, size);
                paged.addAll(page.lines());
                page = round.lines(budget, from, to, paged.getLast().place(), size);
            }
            paged.addAll(page.lines());

            assertThat(paged).as("[%s, %s) by %d", from, to, size).isEqualTo(whole);
            assertThat(paged.stream().mapToLong(StatementLine::used).sum())
                    .isEqualTo(rows.stream().mapToLong(row -> row.used(from, to)).sum());
        }
    }

    @ParameterizedTest
    @RandomSeeds(4)
    void thePodsWithTheHighestUseAreListedWithTheirTotal(long seed) {
        var random = new Random(seed);
        String budget = "largest " + seed;
        List<Row> rows = rows(random, budget);
        rows.stream()
                .collect(toMap(Row::pod, row -> row, (one, other) -> one))
                .values()
                .forEach(row -> allocation(row, budget, true));
        rows.addAll(running(random, budget));
        Instant begin = TEN.minusSeconds(3_600);
        Instant now = TEN.plusSeconds(SECONDS + 3_600);

        List<PodUse> largest =
                new StatementRepository(database.rows()).largest(budget, begin, now, 3);

        Map<UUID, Long> used =
                rows.stream()
                        .collect(groupingBy(Row::pod, summingLong(row -> row.used(begin, now))));
        assertThat(largest)
                .extracting(PodUse::used)
                .isEqualTo(
                        used.values().stream().sorted(Comparator.reverseOrder()).limit(3).toList());
        assertThat(largest).allSatisfy(it -> assertThat(it.used()).isEqualTo(used.get(it.pod())));
    }

    @ParameterizedTest
    @RandomSeeds(8)
    void lateUsageIsFoundHoweverLate(long seed) {
        var random = new Random(seed);
        String budget = "late " + seed;
        List<Row> rows = rows(random, budget);
        UsageRepository round = new UsageRepository(database.rows());
        for (int i = 0; i < 20; i++) {
            Instant before = TEN.plusSeconds(random.nextInt(SECONDS));
            Instant since = before.plusSeconds(random.nextInt(7_200));
            Instant until = random.nextBoolean() ? null : since.plusSeconds(random.nextInt(20_000));

            long found =
                    round.late(budget, before, since, until)
                            .getOrDefault("team-a", GpuTime.ZERO)
                            .microGpuSeconds();

            assertThat(found)
                    .as("before %s, in (%s, %s]", before, since, until)
                    .isEqualTo(
                            rows.stream()
                                    .filter(row -> row.from().isBefore(before))
                                    .filter(row -> row.postedAt().isAfter(since))
                                    .filter(row -> until == null || !row.postedAt().isAfter(until))
                                    .mapToLong(Row::amount)
                                    .sum());
        }
    }

    /** A few pods' rows over the end of a month, several an hour, with corrections of some. */
    private static List<Row> rows(Random random, String budget) {
        var rows = new ArrayList<Row>();
        for (int pod = 0; pod < 5; pod++) {
            UUID uid = new UUID(random.nextLong(), random.nextLong());
            int longest = random.nextBoolean() ? 900 : 3_600;
            Instant at = TEN.plusSeconds(random.nextInt(3_600));
            while (at.isBefore(TEN.plusSeconds(SECONDS))) {
                Instant hour = Entry.hourAfter(at);
                Instant to = at.plusSeconds(1 + random.nextInt(longest));
                rows.add(row(random, uid, at, to.isAfter(hour) ? hour : to));
                at = rows.getLast().to().plusSeconds(random.nextInt(3) * (longest / 6L));
            }
        }
        write("charge", "", "", budget, rows);
        List<Row> corrections =
                rows.stream()
                        .filter(row -> random.nextInt(4) == 0)
                        .map(row -> row(random, row.pod(), row.from(), row.to()))
                        .toList();
        write(
                "correction",
                ", id, reason, author",
                ", gen_random_uuid(), 'wrong', 'somebody'",
                budget,
                corrections);
        rows.addAll(corrections);
        return rows;
    }

    /** Pods that have come as far as their last posting, and run on. */
    private static List<Row> running(Random random, String budget) {
        var running = new ArrayList<Row>();
        for (int pod = 0; pod < 3; pod++) {
            Instant posted = TEN.plusSeconds(random.nextInt(SECONDS));
            UUID uid = new UUID(random.nextLong(), random.nextLong());
            running.add(new Row(uid, posted, Instant.MAX, random.nextInt(1_000_000), posted));
        }
        running.forEach(row -> allocation(row, budget, false));
        return running;
    }

    private static void allocation(Row row, String budget, boolean ended) {
        database.jdbc()
                .sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget, share_rate, rate,
                            compute_part, memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, held_until)
                        values ('test', :pod, 'team-a', 'p', 'n', :budget, :rate, :rate, 0, 0, 0, 1, 0, 1, true, :at::timestamptz,
                            :at::timestamptz, :at::timestamptz, case when :ended then :at::timestamptz end)
                        """)
                .params(
                        Map.of(
                                "pod", row.pod(),
                                "budget", budget,
                                "rate", row.rate(),
                                "at", row.from().toString(),
                                "ended", ended))
                .update();
    }

    private static Row row(Random random, UUID pod, Instant from, Instant to) {
        // At once, after an hour or two, or days later.
        int late = List.of(30, 8_000, 300_000).get(random.nextInt(3));
        return new Row(
                pod, from, to, random.nextInt(1_000_000), to.plusSeconds(random.nextInt(late)));
    }

    private static void write(
            String table, String columns, String values, String budget, List<Row> rows) {
        for (Row row : rows) {
            database.jdbc()
                    .sql(
                            """
                            insert into %s (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount, posted_at%s)
                            values ('test', :pod, :from::timestamptz, :to::timestamptz, 'team-a', :budget, :rate, :amount, :posted::timestamptz%s)
                            """
                                    .formatted(table, columns, values))
                    .params(
                            Map.of(
                                    "pod", row.pod(),
                                    "from", row.from().toString(),
                                    "to", row.to().toString(),
                                    "budget", budget,
                                    "rate", row.rate(),
                                    "amount", row.amount(),
                                    "posted", row.postedAt().toString()))
                    .update();
        }
    }
}
