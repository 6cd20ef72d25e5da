package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Recomputes from the entries what is stored beside them, and looks for entries that cannot be. A
 * sound ledger has no difference at all.
 */
@Repository
public class Verification {

    private static final int MOST = 100;

    private final JdbcClient jdbc;
    private final Clock clock;
    private final String cluster;

    Verification(JdbcClient jdbc, ClusterProperties properties, Clock clock) {
        this.jdbc = jdbc;
        this.clock = clock;
        this.cluster = properties.id();
    }

    /**
     * What was found.
     *
     * @param differences at most a hundred of each kind
     */
    public record Report(Instant at, long entries, List<Difference> differences) {

        /** Whether nothing differs. */
        public boolean sound() {
            return differences.isEmpty();
        }
    }

    /** Something that is not as the entries say. */
    public record Difference(String kind, String where, String stored, String recomputed) {}

    /** Checks everything, as of one instant of the database. */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report run() {
        var differences = new ArrayList<Difference>();
        differences.addAll(find("amount", AMOUNTS));
        differences.addAll(find("hour", HOURS));
        differences.addAll(find("overlap", OVERLAPS));
        differences.addAll(find("stay", STAYS));
        differences.addAll(find("weight", WEIGHTS));
        differences.addAll(find("use", BY_USE));
        long entries =
                jdbc.sql("select count(*) from charge where cluster = :cluster")
                        .param("cluster", cluster)
                        .query(Long.class)
                        .single();
        return new Report(clock.instant(), entries, List.copyOf(differences));
    }

    private List<Difference> find(String kind, String sql) {
        return jdbc.sql(sql + " limit " + MOST)
                .param("cluster", cluster)
                .query((row, number) ->
                        new Difference(kind, row.getString(1), row.getString(2), row.getString(3)))
                .list();
    }

    /** An entry is its rate times its length. */
    private static final String AMOUNTS =
            """
            select pod_uid || ' ' || charged_from, amount, rate * extract(epoch from charged_to - charged_from)
            from (select cluster, pod_uid, charged_from, charged_to, rate, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, charged_to, rate, amount from correction) e
            where cluster = :cluster and amount <> rate * extract(epoch from charged_to - charged_from)
            """;

    /** An hour is the sum of its entries. */
    private static final String HOURS =
            """
            select concat_ws(' ', coalesce(h.budget, e.budget), coalesce(h.namespace, e.namespace),
                             coalesce(h.hour, e.hour)), h.amount, e.amount
            from (select * from usage_hour where cluster = :cluster) h
            full join (select budget, namespace, date_trunc('hour', charged_from, 'UTC') as hour, sum(amount) as amount
                  from (select cluster, budget, namespace, charged_from, amount from charge
                        union all
                        select cluster, budget, namespace, charged_from, amount from correction) all_entries
                  where cluster = :cluster group by 1, 2, 3) e
              on h.budget = e.budget and h.namespace = e.namespace and h.hour = e.hour
            where h.amount is distinct from e.amount
            """;

    /** No pod is charged twice for the same time. */
    private static final String OVERLAPS =
            """
            select pod_uid || ' ' || charged_from, before_to, charged_from
            from (select pod_uid, charged_from,
                         lag(charged_to) over (partition by pod_uid order by charged_from) as before_to
                  from charge where cluster = :cluster) c
            where before_to > charged_from
            """;

    /**
     * A stay whose rate never changed was charged from its begin to where it is posted, exactly.
     */
    private static final String STAYS =
            """
            select s.pod_uid::text, coalesce(sum(c.amount), 0),
                   s.rate * extract(epoch from s.posted_until - s.held_from)
            from pod_stay s left join pod_charge c using (cluster, pod_uid)
            where s.cluster = :cluster and s.use_since is null
            group by s.cluster, s.pod_uid
            having coalesce(sum(c.amount), 0) <> s.rate * extract(epoch from s.posted_until - s.held_from)
               and coalesce(bool_and(abs(c.rate) = s.rate), true)
            """;

    /** A rate is what the budget makes of the share, times the weight of the GPU model. */
    private static final String WEIGHTS =
            """
            select pod_uid::text, rate, least(div(share_rate::numeric * weight, 1000000), 100000000000)
            from pod_stay
            where cluster = :cluster
              and rate is distinct from least(div(share_rate::numeric * weight, 1000000), 100000000000)
            """;

    /** What was measured makes a stay cheaper than its share, never dearer, and never a gift. */
    private static final String BY_USE =
            """
            select s.pod_uid::text, sum(e.amount),
                   '0 to ' || s.rate * extract(epoch from s.posted_until - s.use_since)
            from pod_stay s join
                 (select cluster, pod_uid, charged_from, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, amount from correction where author = 'timekeeper') e
                 on e.cluster = s.cluster and e.pod_uid = s.pod_uid and e.charged_from >= s.use_since
            where s.cluster = :cluster and s.use_settled is not null
            group by s.cluster, s.pod_uid
            having sum(e.amount) not between 0 and s.rate * extract(epoch from s.posted_until - s.use_since)
            """;
}
