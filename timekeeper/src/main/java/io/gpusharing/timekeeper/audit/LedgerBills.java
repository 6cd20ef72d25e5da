package io.gpusharing.timekeeper.audit;

import io.gpusharing.recount.AuditLog;
import io.gpusharing.recount.Charged;
import io.gpusharing.recount.Charged.Part;
import io.gpusharing.recount.Comparison;
import io.gpusharing.recount.Payers.Paid;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/** Holds the ledger against an audit log. */
@Repository
class LedgerBills {

    // Edges are whole seconds: a part of an entry is exact.
    private static final String CHARGED =
            """
            with paid as (
                select pod_uid, budget, abs(rate) as rate,
                       sum(rate * extract(epoch from least(charged_to, :to::timestamptz)
                           - greatest(charged_from, :from::timestamptz))) as amount,
                       greatest(min(charged_from), :from::timestamptz) as since,
                       least(max(charged_to), :to::timestamptz) as until
                  from (select cluster, pod_uid, charged_from, charged_to, rate, budget from charge
                        union all
                        select cluster, pod_uid, charged_from, charged_to, rate, budget from correction
                         where not by_hand) e
                 where cluster = :cluster and charged_from < :to::timestamptz and charged_to > :from::timestamptz
                 group by pod_uid, budget, abs(rate)
                union all
                select pod_uid, budget, rate,
                       rate * extract(epoch from :to::timestamptz - greatest(posted_until, :from::timestamptz)),
                       greatest(posted_until, :from::timestamptz), :to::timestamptz
                  from pod_allocation
                 where cluster = :cluster and held_until is null and posted_until < :to::timestamptz)
            select s.pod_uid::text as uid, s.namespace, s.name, s.held_until, s.estimated, s.end_bound, s.weight,
                   s.use_since is not null as by_use,
                   coalesce(sum(p.amount), 0)::bigint as amount,
                   array_agg(coalesce(p.budget, s.budget)) as budgets,
                   array_agg(coalesce(p.rate, s.rate)) as rates,
                   array_agg(coalesce(p.amount, 0)::bigint) as amounts,
                   array_agg(extract(epoch from coalesce(p.since, s.held_from))::bigint) as since,
                   array_agg(extract(epoch from coalesce(p.until, s.held_from))::bigint) as until
              from pod_allocation s left join paid p on p.pod_uid = s.pod_uid
             where s.cluster = :cluster and s.held_from < :to::timestamptz and not s.allocation
             group by s.cluster, s.pod_uid
            """;

    private static final String WHOLE_GPUS = "nvidia.com/gpu";

    private final ClusterDatabase database;
    private final boolean wholeGpus;

    LedgerBills(ClusterDatabase database, RequestProperties requests) {
        this.database = database;
        this.wholeGpus = requests.lists(WHOLE_GPUS) && requests.grammars().contains("nvidia");
    }

    /** Since when this cluster is metered, or what retention has left of that. */
    public Instant meteringStart() {
        return database.sql(
                        """
                        select greatest(metering_start, (select since from charge_kept)) as since
                        from cluster where id = :cluster
                        """)
                .query((row, number) -> Timestamps.instant(row, "since"))
                .single();
    }

    /**
     * Compares every pod over [from, to), both whole seconds.
     *
     * @param from taken as the begin of metering if that is later
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Comparison against(AuditLog log, Instant from, Instant to) {
        Instant start = meteringStart();
        Instant begin = from.isBefore(start) ? start : from;
        return Comparison.of(charged(begin, to), log, wholeGpus, begin, to);
    }

    private Map<String, Charged> charged(Instant from, Instant to) {
        var charged = new LinkedHashMap<String, Charged>();
        database.sql(CHARGED)
                .param("from", from)
                .param("to", to)
                .query(row -> {
                    List<Paid> paid = paid(row);
                    charged.put(
                            row.getString("uid"),
                            new Charged(
                                    row.getString("namespace"),
                                    row.getString("name"),
                                    row.getLong("amount"),
                                    paid,
                                    row.getLong("weight"),
                                    row.getBoolean("by_use"),
                                    Timestamps.instantOrNull(row, "held_until"),
                                    row.getBoolean("estimated"),
                                    Timestamps.instantOrNull(row, "end_bound"),
                                    parts(row, paid)));
                });
        return charged;
    }

    private static List<Part> parts(ResultSet row, List<Paid> paid) throws SQLException {
        Long[] rates = (Long[]) row.getArray("rates").getArray();
        Long[] amounts = (Long[]) row.getArray("amounts").getArray();
        return Charged.byRate(
                IntStream.range(0, rates.length)
                        .mapToObj(i ->
                                new Part(
                                        rates[i], amounts[i], paid.get(i).from(), paid.get(i).to()))
                        .toList());
    }

    /** Where nothing was charged in the span, that is a span without length. */
    private static List<Paid> paid(ResultSet row) throws SQLException {
        String[] budgets = (String[]) row.getArray("budgets").getArray();
        Long[] since = (Long[]) row.getArray("since").getArray();
        Long[] until = (Long[]) row.getArray("until").getArray();
        return IntStream.range(0, budgets.length)
                .mapToObj(i ->
                        new Paid(
                                budgets[i],
                                Instant.ofEpochSecond(since[i]),
                                Instant.ofEpochSecond(until[i])))
                .toList();
    }
}
