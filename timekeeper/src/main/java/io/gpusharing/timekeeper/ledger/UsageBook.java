package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.database.Timestamps;
import java.math.BigInteger;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * What was charged to a budget in any span. Whole hours are read from their sums, the rest from
 * single entries.
 */
@Repository
public class UsageBook {

    private static final String HOURS =
            """
            select namespace, sum(amount) as used from usage_hour
             where cluster = :cluster and budget = :budget
               and hour >= :from::timestamptz and hour < :to::timestamptz
             group by namespace
            """;

    // No entry is longer than an hour, so none that began earlier reaches into the span.
    private static final String ENTRIES =
            """
            select namespace, sum(rate * extract(epoch from
                   least(charged_to, :to::timestamptz) - greatest(charged_from, :from::timestamptz))) as used
              from (select namespace, charged_from, charged_to, rate from charge
                     where cluster = :cluster and budget = :budget
                       and charged_from >= :from::timestamptz - interval '1 hour'
                       and charged_from < :to::timestamptz
                    union all
                    select namespace, charged_from, charged_to, rate from correction
                     where cluster = :cluster and budget = :budget
                       and charged_from >= :from::timestamptz - interval '1 hour'
                       and charged_from < :to::timestamptz) entries
             where charged_to > :from::timestamptz
             group by namespace
            """;

    // What was posted within two hours after its span, and after the closing, is of a span that
    // began within three hours before the closing. All that was posted later than that is in an
    // index of its own.
    private static final String LATE =
            """
            select namespace, sum(amount) as used
              from (%s union all %s) late
             group by namespace
            """
                    .formatted(lateIn("charge"), lateIn("correction"));

    private final JdbcClient jdbc;
    private final String cluster;

    UsageBook(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /**
     * What each namespace used in [from, to).
     *
     * @param to null for all that was ever posted since {@code from}
     */
    public Map<String, GpuTime> used(String budget, Instant from, @Nullable Instant to) {
        var used = new TreeMap<String, GpuTime>();
        Instant firstHour = Entry.hourFrom(from);
        Instant lastHour = to == null ? null : to.truncatedTo(ChronoUnit.HOURS);
        if (lastHour == null || firstHour.isBefore(lastHour)) {
            add(used, hours(budget, firstHour, lastHour));
            add(used, entries(budget, from, firstHour));
            if (lastHour != null) {
                add(used, entries(budget, lastHour, to));
            }
        } else {
            add(used, entries(budget, from, to));
        }
        return used;
    }

    /**
     * What was posted for spans before an instant, but only after the period that ended there was
     * closed.
     *
     * @param since when it was closed, by the database's clock
     * @param until when the next was closed; null for all that was ever posted
     */
    public Map<String, GpuTime> late(
            String budget, Instant before, Instant since, @Nullable Instant until) {
        return sums(
                LATE,
                Map.of(
                        "budget", budget,
                        "before", Timestamps.parameter(before),
                        "since", Timestamps.parameter(since),
                        "until", end(until)));
    }

    private static String lateIn(String table) {
        return """
        select namespace, amount from %1$s
         where cluster = :cluster and budget = :budget and charged_from < :before::timestamptz
           and charged_from > :since::timestamptz - interval '3 hours'
           and posted_at > :since::timestamptz and posted_at <= :until::timestamptz
           and posted_at - charged_to <= interval '2 hours'
        union all
        select namespace, amount from %1$s
         where cluster = :cluster and budget = :budget and charged_from < :before::timestamptz
           and posted_at > :since::timestamptz and posted_at <= :until::timestamptz
           and posted_at - charged_to > interval '2 hours'
        """
                .formatted(table);
    }

    private static void add(Map<String, GpuTime> sums, Map<String, GpuTime> more) {
        more.forEach((namespace, time) -> sums.merge(namespace, time, GpuTime::plus));
    }

    private Map<String, GpuTime> hours(String budget, Instant from, @Nullable Instant to) {
        return sums(HOURS, span(budget, from, to));
    }

    private Map<String, GpuTime> entries(String budget, Instant from, @Nullable Instant to) {
        return from.equals(to) ? Map.of() : sums(ENTRIES, span(budget, from, to));
    }

    private static Map<String, Object> span(String budget, Instant from, @Nullable Instant to) {
        return Map.of("budget", budget, "from", Timestamps.parameter(from), "to", end(to));
    }

    /** The driver tells the last of all times as infinity. */
    private static OffsetDateTime end(@Nullable Instant instant) {
        return instant == null ? OffsetDateTime.MAX : Timestamps.parameter(instant);
    }

    private Map<String, GpuTime> sums(String sql, Map<String, Object> asked) {
        var sums = new TreeMap<String, GpuTime>();
        jdbc.sql(sql)
                .param("cluster", cluster)
                .params(asked)
                .query(row -> {
                    // Edges are whole seconds: nothing is rounded here.
                    BigInteger micros = row.getBigDecimal("used").toBigIntegerExact();
                    sums.put(row.getString("namespace"), GpuTime.saturated(micros));
                });
        return sums;
    }
}
