package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Entry;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * What a budget used in any span. Whole hours are read from their sums, the rest from single
 * entries, and what is not posted yet from the allocations that are open.
 */
@Repository
public class UsageRepository {

    /** A full hour after all that will ever be posted. */
    private static final Instant NEVER = Instant.parse("9999-12-31T23:00:00Z");

    private static final String UNION = "union all\n";

    private static final String HOURS =
            """
            select namespace, amount as used from usage_hour
             where cluster = :cluster and budget = :budget
               and hour >= :first::timestamptz and hour < :last::timestamptz
            """;

    private static final String BEFORE_HOURS = entries(":from", ":first");
    private static final String AFTER_HOURS = entries(":last", ":to");

    private static final String OPEN =
            """
            select namespace, rate * extract(epoch from :to::timestamptz - greatest(posted_until, :from::timestamptz)) as used
              from pod_allocation
             where cluster = :cluster and budget = :budget and held_until is null
               and posted_until < :to::timestamptz
            """;

    private static String entries(String from, String to) {
        return entriesOf("charge", from, to) + UNION + entriesOf("correction", from, to);
    }

    // No entry is longer than an hour, so none that began earlier reaches into the span.
    private static String entriesOf(String table, String from, String to) {
        return """
        select namespace, rate * extract(epoch from
               least(charged_to, %2$s::timestamptz) - greatest(charged_from, %1$s::timestamptz)) as used
          from %3$s
         where cluster = :cluster and budget = :budget
           and charged_from >= %1$s::timestamptz - interval '1 hour'
           and charged_from < %2$s::timestamptz and charged_to > %1$s::timestamptz
        """
                .formatted(from, to, table);
    }

    // What was posted within two hours after its span, and after the closing, is of a span that
    // began within three hours before the closing. All that was posted later than that is in an
    // index of its own.
    private static final String LATE =
            postedSince(lateIn("charge")) + UNION + postedSince(lateIn("correction"));

    // The same two places, for what was posted after an instant and reaches into a span.
    private static final String SINCE =
            postedSince(entriesOf("charge", ":from", ":to"))
                    + UNION
                    + postedSince(entriesOf("correction", ":from", ":to"));

    private final ClusterDatabase database;

    public UsageRepository(ClusterDatabase database) {
        this.database = database;
    }

    /** What each namespace used in [from, to), also what is not posted yet. */
    public Map<String, GpuTime> used(String budget, Instant from, Instant to) {
        return read(budget, from, to, OPEN);
    }

    /**
     * What was posted for [from, to), by namespace.
     *
     * @param to null for all that was ever posted since {@code from}
     */
    public Map<String, GpuTime> posted(String budget, Instant from, @Nullable Instant to) {
        return read(budget, from, to == null ? NEVER : to);
    }

    /** One question, whatever it has to look into: each journey to the database counts. */
    private Map<String, GpuTime> read(String budget, Instant from, Instant to, String... more) {
        if (!from.isBefore(to)) {
            return Map.of();
        }
        Instant first = Entry.hourFrom(from).isBefore(to) ? Entry.hourFrom(from) : to;
        Instant last = first.isBefore(to) ? to.truncatedTo(ChronoUnit.HOURS) : to;
        var places = new ArrayList<>(List.of(more));
        if (first.isBefore(last)) {
            places.add(HOURS);
        }
        if (from.isBefore(first)) {
            places.add(BEFORE_HOURS);
        }
        if (last.isBefore(to)) {
            places.add(AFTER_HOURS);
        }
        return sums(
                String.join(UNION, places),
                Map.of("budget", budget, "from", from, "first", first, "last", last, "to", to));
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
                        "before", before,
                        "since", since,
                        "until", until == null ? NEVER : until));
    }

    /**
     * What each namespace used in [from, to), as far as it was posted until an instant.
     *
     * @param known by the database's clock
     */
    public Map<String, GpuTime> knownAt(Instant known, String budget, Instant from, Instant to) {
        var used = new TreeMap<>(posted(budget, from, to));
        sums(
                        SINCE,
                        Map.of(
                                "budget", budget,
                                "from", from,
                                "to", to,
                                "since", known))
                .forEach((namespace, time) ->
                        used.merge(namespace, GpuTime.ZERO.minus(time), GpuTime::plus));
        return used;
    }

    /** Of a select of entries, those that were posted after an instant. */
    private static String postedSince(String select) {
        return select
                + """
                  and charged_from > :since::timestamptz - interval '3 hours'
                  and posted_at > :since::timestamptz and posted_at - charged_to <= interval '2 hours'
                union all
                """
                + select
                + """
                  and posted_at > :since::timestamptz and posted_at - charged_to > interval '2 hours'
                """;
    }

    private static String lateIn(String table) {
        return """
        select namespace, amount as used from %s
         where cluster = :cluster and budget = :budget and charged_from < :before::timestamptz
           and posted_at <= :until::timestamptz
        """
                .formatted(table);
    }

    /**
     * Sums by namespace.
     *
     * @param places a select of {@code namespace, used}
     */
    private Map<String, GpuTime> sums(String places, Map<String, Object> asked) {
        var sums = new TreeMap<String, GpuTime>();
        database.sql(
                        "select namespace, sum(used) as used from (%s) places group by namespace"
                                .formatted(places))
                .params(asked)
                .query(row -> {
                    String namespace = row.getString("namespace");
                    sums.put(namespace, whole(row.getBigDecimal("used"), namespace));
                });
        return sums;
    }

    /** Edges are whole seconds: nothing is rounded here. */
    private static GpuTime whole(BigDecimal used, String namespace) {
        try {
            return GpuTime.saturated(used.toBigIntegerExact());
        } catch (ArithmeticException e) {
            throw new ArithmeticException(
                    "%s used %s micro-GPU-seconds, so an entry begins or ends within a second"
                            .formatted(namespace, used.stripTrailingZeros().toPlainString()));
        }
    }
}
