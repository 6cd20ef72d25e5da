package io.gpusharing.timekeeper.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Recomputes from the entries whatever is stored beside them, and looks for entries that contradict
 * each other. A sound ledger shows no difference.
 */
@Repository
public class Verification {

    private static final int MAX_DIFFERENCES = 100;

    private final ClusterDatabase database;
    private final Clock clock;
    private final List<Recomputation> others;

    public Verification(ClusterDatabase database, Clock clock, List<Recomputation> others) {
        this.others = others;
        this.database = database;
        this.clock = clock;
    }

    /**
     * What was found.
     *
     * @param since what is older was dropped by retention and cannot be recomputed; absent if
     *     everything is there
     * @param differences at most a hundred of each kind
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Report(
            Instant at, @Nullable Instant since, long entries, List<Difference> differences) {

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
        return run(MAX_DIFFERENCES);
    }

    /**
     * Checks everything, as of one instant of the database.
     *
     * @param most how many differences of each kind are told
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report run(int most) {
        Instant since = since();
        var differences = new ArrayList<Difference>();
        differences.addAll(find("amount", AMOUNTS, since, most));
        differences.addAll(find("hour", HOURS, since, most));
        differences.addAll(find("overlap", OVERLAPS, since, most));
        differences.addAll(find("pod", PODS, since, most));
        differences.addAll(find("allocation", ALLOCATIONS, since, most));
        differences.addAll(find("gap", GAPS, since, most));
        differences.addAll(find("weight", WEIGHTS, since, most));
        differences.addAll(find("use", BY_USE, since, most));
        Instant kept = since == null ? Instant.MIN : since;
        others.forEach(it -> it.differences(kept).limit(most).forEach(differences::add));
        long entries =
                database.sql("select count(*) from charge where cluster = :cluster")
                        .query(Long.class)
                        .single();
        return new Report(clock.instant(), since, entries, List.copyOf(differences));
    }

    /** The first instant of which all charges are still kept; null if none was ever dropped. */
    private @Nullable Instant since() {
        // No snapshot keeps a table from being dropped: whoever drops waits until we are done.
        database.sql("lock table charge in access share mode").update();
        return database.sql("select since from charge_kept")
                .query((row, number) -> Timestamps.instant(row, "since"))
                .optional()
                .orElse(null);
    }

    private List<Difference> find(String kind, String sql, @Nullable Instant since, int most) {
        return database.sql(sql + " limit " + most)
                .param("since", since == null ? "-infinity" : since.toString())
                .query((row, number) ->
                        new Difference(
                                kind,
                                String.valueOf(row.getString(1)),
                                String.valueOf(row.getString(2)),
                                String.valueOf(row.getString(3))))
                .list();
    }

    /** An entry is its rate times its length. */
    private static final String AMOUNTS =
            """
            select pod_uid || ' ' || charged_from, amount, rate * extract(epoch from charged_to - charged_from)
            from (select cluster, pod_uid, charged_from, charged_to, rate, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, charged_to, rate, amount from correction) e
            where cluster = :cluster and charged_from >= :since::timestamptz
              and amount <> rate * extract(epoch from charged_to - charged_from)
            """;

    /** An hour is the sum of its entries. */
    private static final String HOURS =
            """
            select concat_ws(' ', coalesce(h.budget, e.budget), coalesce(h.namespace, e.namespace),
                             coalesce(h.hour, e.hour)), h.amount, e.amount
            from (select * from usage_hour where cluster = :cluster and hour >= :since::timestamptz) h
            full join (select budget, namespace, date_trunc('hour', charged_from, 'UTC') as hour, sum(amount) as amount
                  from (select cluster, budget, namespace, charged_from, amount from charge
                        union all
                        select cluster, budget, namespace, charged_from, amount from correction) all_entries
                  where cluster = :cluster and charged_from >= :since::timestamptz group by 1, 2, 3) e
              on h.budget = e.budget and h.namespace = e.namespace and h.hour = e.hour
            where h.amount is distinct from e.amount
            """;

    /** No pod is charged twice for the same time. */
    private static final String OVERLAPS =
            """
            select pod_uid || ' ' || charged_from, before_to, charged_from
            from (select pod_uid, charged_from,
                         lag(charged_to) over (partition by pod_uid order by charged_from) as before_to
                  from charge where cluster = :cluster and charged_from >= :since::timestamptz) c
            where before_to > charged_from
            """;

    /** Whoever is charged was there: no allocation is ever deleted. */
    private static final String PODS =
            """
            select e.pod_uid::text, sum(e.amount), 0
            from (select cluster, pod_uid, charged_from, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, amount from correction) e
            where e.cluster = :cluster and e.charged_from >= :since::timestamptz
              and not exists (select from pod_allocation s where s.cluster = e.cluster and s.pod_uid = e.pod_uid)
            group by e.pod_uid
            """;

    /**
     * An allocation whose rate never changed was charged from its begin to where it is posted,
     * exactly, but for what people corrected in it.
     */
    private static final String ALLOCATIONS =
            """
            select s.pod_uid::text, coalesce(sum(e.amount), 0),
                   s.rate * extract(epoch from s.posted_until - s.held_from) + coalesce(sum(e.by_hand), 0)
            from pod_allocation s left join lateral (
                select rate, amount, 0 as by_hand from charge
                where cluster = s.cluster and pod_uid = s.pod_uid
                union all
                select case when by_hand then null else rate end, amount,
                       case when by_hand then rate * greatest(0, extract(epoch from
                           least(charged_to, s.posted_until) - charged_from)) else 0 end
                from correction where cluster = s.cluster and pod_uid = s.pod_uid) e on true
            where s.cluster = :cluster and s.use_since is null
              and s.held_from >= :since::timestamptz
            group by s.cluster, s.pod_uid
            having coalesce(sum(e.amount), 0) <> s.rate * extract(epoch from s.posted_until - s.held_from)
                       + coalesce(sum(e.by_hand), 0)
               and coalesce(bool_and(abs(e.rate) = s.rate), true)
            """;

    /**
     * Charges leave no second out between an allocation's begin and where it was ever posted,
     * whatever its rates were; but a rate of nothing leaves no charge, so whoever can have had one
     * is not asked.
     */
    private static final String GAPS =
            """
            select s.pod_uid::text, coalesce(sum(extract(epoch from c.charged_to - c.charged_from)), 0)::bigint || ' s',
                   extract(epoch from s.charged_until - s.held_from)::bigint || ' s'
            from pod_allocation s left join charge c on c.cluster = s.cluster and c.pod_uid = s.pod_uid
            where s.cluster = :cluster and s.held_from >= :since::timestamptz
              and least(s.compute_part, s.memory_part, s.rate, s.weight) > 0
            group by s.cluster, s.pod_uid
            having coalesce(sum(extract(epoch from c.charged_to - c.charged_from)), 0)
                <> extract(epoch from s.charged_until - s.held_from)
            """;

    /**
     * A rate is what the budget makes of the share, times the weight of the GPU model; rounded
     * after that, so that it may be more than the rounded share's by less than a millionth's
     * weight.
     */
    private static final String WEIGHTS =
            """
            select pod_uid::text, rate, least(div(share_rate::numeric * weight, 1000000), 100000000000)
            from pod_allocation
            where cluster = :cluster and held_from >= :since::timestamptz
              and (rate < least(div(share_rate::numeric * weight, 1000000), 100000000000)
                or rate > 0 and rate::numeric * 1000000 >= (share_rate + 1)::numeric * weight)
            """;

    /**
     * What was measured makes an allocation cheaper than its share, never dearer, and never a gift.
     */
    private static final String BY_USE =
            """
            select s.pod_uid::text, sum(e.amount),
                   '0 to ' || s.rate * extract(epoch from s.posted_until - s.use_since)
            from pod_allocation s join
                 (select cluster, pod_uid, charged_from, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, amount from correction where not by_hand) e
                 on e.cluster = s.cluster and e.pod_uid = s.pod_uid and e.charged_from >= s.use_since
            where s.cluster = :cluster and s.use_settled is not null
              and s.held_from >= :since::timestamptz
            group by s.cluster, s.pod_uid
            having sum(e.amount) not between 0 and s.rate * extract(epoch from s.posted_until - s.use_since)
            """;
}
