package io.gpusharing.timekeeper.recount;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.recount.Comparison.Charged;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/** Holds the ledger against an audit log. */
@Repository
public class LedgerBills {

    // Edges are whole seconds: a part of an entry is exact.
    private static final String CHARGED =
            """
            select s.pod_uid::text as uid, s.namespace, s.name, s.held_until, s.estimated, s.weight,
                   s.use_since is not null as by_use,
                   (coalesce(sum(c.rate * extract(epoch from least(c.charged_to, :to::timestamptz)
                       - greatest(c.charged_from, :from::timestamptz))), 0)
                    + case when s.held_until is null and s.posted_until < :to::timestamptz
                      then s.rate * extract(epoch from :to::timestamptz
                           - greatest(s.posted_until, :from::timestamptz)) else 0 end)::bigint as amount,
                   coalesce(array_agg(distinct c.budget) filter (where c.budget is not null), array[s.budget]) as budgets
              from pod_stay s left join (
                   select cluster, pod_uid, charged_from, charged_to, rate, budget from charge
                   union all
                   select cluster, pod_uid, charged_from, charged_to, rate, budget from correction
                    where not by_hand) c
                on c.cluster = s.cluster and c.pod_uid = s.pod_uid
               and c.charged_from < :to::timestamptz and c.charged_to > :from::timestamptz
             where s.cluster = :cluster and s.held_from < :to::timestamptz
             group by s.cluster, s.pod_uid
            """;

    private final JdbcClient jdbc;
    private final String cluster;

    LedgerBills(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /** Since when this cluster is metered: nothing before is charged. */
    public Instant meteringStart() {
        return jdbc.sql("select metering_start from cluster where id = :cluster")
                .param("cluster", cluster)
                .query(OffsetDateTime.class)
                .single()
                .toInstant();
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
        return Comparison.of(charged(begin, to), log, begin, to);
    }

    private Map<String, Charged> charged(Instant from, Instant to) {
        var charged = new LinkedHashMap<String, Charged>();
        jdbc.sql(CHARGED)
                .param("cluster", cluster)
                .param("from", from.toString())
                .param("to", to.toString())
                .query(row -> {
                    OffsetDateTime until = row.getObject("held_until", OffsetDateTime.class);
                    charged.put(
                            row.getString("uid"),
                            new Charged(
                                    row.getString("namespace"),
                                    row.getString("name"),
                                    row.getLong("amount"),
                                    List.of((String[]) row.getArray("budgets").getArray()),
                                    row.getLong("weight"),
                                    row.getBoolean("by_use"),
                                    until == null ? null : until.toInstant(),
                                    row.getBoolean("estimated")));
                });
        return charged;
    }
}
