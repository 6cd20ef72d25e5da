package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.math.BigInteger;
import java.time.Instant;
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
        Instant firstHour = ceiling(from);
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
     */
    public Map<String, GpuTime> late(String budget, Instant before, Instant since) {
        var late = new TreeMap<String, GpuTime>();
        jdbc.sql(
                        """
                        select namespace, sum(amount) as used
                        from (select namespace, amount from charge
                              where cluster = :cluster and budget = :budget
                                and charged_from < :before::timestamptz and posted_at > :since::timestamptz
                              union all
                              select namespace, amount from correction
                              where cluster = :cluster and budget = :budget
                                and charged_from < :before::timestamptz and posted_at > :since::timestamptz) late
                        group by namespace
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("before", before.toString())
                .param("since", since.toString())
                .query(row -> {
                    BigInteger micros = row.getBigDecimal("used").toBigIntegerExact();
                    late.put(row.getString("namespace"), GpuTime.saturated(micros));
                });
        return late;
    }

    private static void add(Map<String, GpuTime> sums, Map<String, GpuTime> more) {
        more.forEach((namespace, time) -> sums.merge(namespace, time, GpuTime::plus));
    }

    private Map<String, GpuTime> hours(String budget, Instant from, @Nullable Instant to) {
        return sums(
                """
                select namespace, sum(amount) as used from usage_hour
                where cluster = :cluster and budget = :budget
                  and hour >= :from::timestamptz and hour < :to::timestamptz
                group by namespace
                """,
                budget,
                from,
                to);
    }

    private Map<String, GpuTime> entries(String budget, Instant from, @Nullable Instant to) {
        if (from.equals(to)) {
            return Map.of();
        }
        // No entry is longer than an hour, so none that began earlier reaches into the span.
        return sums(
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
                """,
                budget,
                from,
                to);
    }

    private Map<String, GpuTime> sums(
            String sql, String budget, Instant from, @Nullable Instant to) {
        var sums = new TreeMap<String, GpuTime>();
        jdbc.sql(sql)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .param("to", to == null ? "infinity" : to.toString())
                .query(row -> {
                    // Edges are whole seconds: nothing is rounded here.
                    BigInteger micros = row.getBigDecimal("used").toBigIntegerExact();
                    sums.put(row.getString("namespace"), GpuTime.saturated(micros));
                });
        return sums;
    }

    private static Instant ceiling(Instant instant) {
        Instant hour = instant.truncatedTo(ChronoUnit.HOURS);
        return hour.equals(instant) ? hour : Entry.hourAfter(instant);
    }
}
