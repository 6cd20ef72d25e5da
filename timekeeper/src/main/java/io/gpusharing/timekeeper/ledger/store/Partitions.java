package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Keeps each month of charges in a partition of its own. Coming months are made ahead of time, and
 * months past their retention are dropped whole. A charge without a partition for its month goes to
 * the default one, so charging never depends on this.
 */
@Component
class Partitions extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(Partitions.class);
    private static final int AHEAD = 3;
    private static final Duration EVERY = Duration.ofHours(6);
    private static final String PREFIX = "charge_m";
    private static final DateTimeFormatter DIGITS = DateTimeFormatter.ofPattern("uuuuMM");

    // Whoever waits for a reader, a verification for instance, lets every posting wait behind it.
    private static final String GIVE_WAY = "set local lock_timeout = '1s'";

    // Identifiers cannot be parameters; these are digits only.
    private static final List<String> STEPS =
            List.of(
                    GIVE_WAY,
                    // As readers do it, who would else wait for one and we for the other.
                    "lock table only charge in access exclusive mode",
                    "lock table charge_default in access exclusive mode",
                    """
                    create temporary table early on commit drop as
                    select * from charge_default
                     where charged_from >= '%2$s-01T00:00:00Z' and charged_from < '%3$s-01T00:00:00Z'
                    """,
                    "delete from charge_default where charged_from in (select charged_from from early)",
                    "create table %1$s partition of charge for values from ('%2$s-01T00:00:00Z') to ('%3$s-01T00:00:00Z')",
                    "insert into charge select * from early");

    /**
     * What is computed from all of its entries, and not only from hourly sums: a period that is
     * open, which may begin and have grants begin in the middle of an hour, and an allocation that
     * is settled by use. Some time longer, because of what is reported late.
     */
    private static final String NEEDED =
            """
            select min(since) from (
                select counted_from as since from budget_period
                 where period_end is null or period_end > least(:now::timestamptz, now()) - interval '2 days'
                union all
                select use_since from pod_allocation
                 where use_since is not null
                   and (held_until is null or held_until > least(:now::timestamptz, now()) - interval '2 days')) open
            """;

    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;

    /** Whole months besides the one that runs; 0 for ever. */
    private final int kept;

    private final Clock clock;

    Partitions(
            JdbcClient jdbc,
            TransactionTemplate transaction,
            LedgerProperties properties,
            Leadership leadership,
            Clock clock) {
        super("partitions", leadership, clock);
        this.jdbc = jdbc;
        this.transaction = transaction;
        this.kept = Math.toIntExact(properties.keepCharges().toTotalMonths());
        this.clock = clock;
    }

    @Override
    protected Instant work(Instant now) {
        YearMonth month = YearMonth.from(now.atOffset(ZoneOffset.UTC));
        for (int i = 0; i <= AHEAD; i++) {
            make(month.plusMonths(i));
        }
        if (kept > 0) {
            dropBefore(month, kept);
        }
        return now.plus(EVERY);
    }

    /** Names of the months there are, oldest first. */
    List<String> months() {
        return jdbc.sql(
                        """
                        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
                        where i.inhparent = 'charge'::regclass and c.relname like 'charge\\_m%' order by 1
                        """)
                .query((row, number) -> row.getString(1))
                .list();
    }

    private void make(YearMonth month) {
        if (months().contains(name(month))) {
            return;
        }
        transaction.executeWithoutResult(status -> {
            // Charges that came before their month had a table have to leave the default one first.
            STEPS.forEach(step ->
                    jdbc.sql(step.formatted(name(month), month, month.plusMonths(1))).update());
        });
    }

    /**
     * Drops what need not be kept even if our clock is ahead: by the earliest of our month, the
     * database's, and the newest in which anything was charged.
     */
    private void dropBefore(YearMonth ours, int kept) {
        List<String> months = months();
        Optional<YearMonth> present =
                months.reversed().stream()
                        .filter(this::isCharged)
                        .findFirst()
                        .flatMap(newest ->
                                Stream.of(month(newest), databases(), ours)
                                        .min(Comparator.naturalOrder()));
        if (present.isEmpty()) {
            return;
        }
        YearMonth past = present.get().minusMonths(kept);
        String first = name(neededFrom().filter(past::isAfter).orElse(past));
        for (String month : months) {
            if (month.compareTo(first) < 0) {
                drop(month);
            }
        }
    }

    /** Verification asks from when on charges are kept, so that is noted along. */
    private void drop(String month) {
        transaction.executeWithoutResult(status -> {
            jdbc.sql(GIVE_WAY).update();
            jdbc.sql("drop table " + month).update();
            jdbc.sql(
                            """
                            insert into charge_kept (since) values (:since::timestamptz)
                            on conflict (one) do update set since = greatest(charge_kept.since, excluded.since)
                            """)
                    .param("since", month(month).plusMonths(1) + "-01T00:00:00Z")
                    .update();
        });
        log.atInfo().addKeyValue("partition", month).log("dropped charges");
    }

    private Optional<YearMonth> neededFrom() {
        return jdbc
                .sql(NEEDED)
                .param("now", Timestamps.parameter(clock.instant()))
                .query((row, number) -> Timestamps.instantOrNull(row, "min"))
                .list()
                .stream()
                .filter(Objects::nonNull)
                .map(since -> YearMonth.from(since.atOffset(ZoneOffset.UTC)))
                .findFirst();
    }

    private boolean isCharged(String month) {
        return jdbc.sql("select exists(select 1 from " + month + ")").query(Boolean.class).single();
    }

    private YearMonth databases() {
        return jdbc.sql("select to_char(now() at time zone 'UTC', 'YYYY-MM')")
                .query((row, number) -> YearMonth.parse(row.getString(1)))
                .single();
    }

    private static String name(YearMonth month) {
        return PREFIX + month.format(DIGITS);
    }

    private static YearMonth month(String name) {
        return YearMonth.parse(name.substring(PREFIX.length()), DIGITS);
    }
}
