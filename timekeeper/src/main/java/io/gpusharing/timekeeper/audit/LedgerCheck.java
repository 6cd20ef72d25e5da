package io.gpusharing.timekeeper.audit;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What has to be true of the ledger's rows. Each is a query for what is not: where, what is stored,
 * and what is recomputed. It is asked of {@code charges}, {@code entries} (with corrections) and
 * {@code allocations}: of spans that begin at {@code :since} or later, and perhaps of {@code :pods}
 * only.
 */
enum LedgerCheck {

    /** An entry is its rate times its length. */
    AMOUNT(
            """
            select pod_uid || ' ' || charged_from, amount, rate * extract(epoch from charged_to - charged_from)
            from entries where amount <> rate * extract(epoch from charged_to - charged_from)
            """),

    /** An entry lies within an hour of the clock: it counts in one sum. */
    SPAN(
            """
            select pod_uid || ' ' || charged_from, charged_to,
                   date_trunc('hour', charged_from, 'UTC') + interval '1 hour'
            from entries where charged_to > date_trunc('hour', charged_from, 'UTC') + interval '1 hour'
            """),

    /** An hour is the sum of its entries. */
    HOUR(
            """
            select concat_ws(' ', coalesce(h.budget, e.budget), coalesce(h.namespace, e.namespace),
                             coalesce(h.hour, e.hour)), h.amount, e.amount
            from (select * from usage_hour where cluster = :cluster and hour >= :since) h
            full join (select budget, namespace, date_trunc('hour', charged_from, 'UTC') as hour, sum(amount) as amount
                       from entries group by 1, 2, 3) e
              on h.budget = e.budget and h.namespace = e.namespace and h.hour = e.hour
            where h.amount is distinct from e.amount
            """),

    /** So is each hour of which anything of some pods was posted, with what others were charged. */
    HOUR_OF_PODS(
            """
            select concat_ws(' ', p.budget, p.namespace, p.hour), h.amount, e.amount
            from (select distinct budget, namespace, date_trunc('hour', charged_from, 'UTC') as hour
                  from entries where posted_at >= :posted) p
            left join usage_hour h on h.cluster = :cluster and h.budget = p.budget and h.namespace = p.namespace and h.hour = p.hour
            cross join lateral (
                select sum(amount) as amount
                from (select cluster, budget, namespace, charged_from, amount from charge
                      union all
                      select cluster, budget, namespace, charged_from, amount from correction) all_entries
                where cluster = :cluster and budget = p.budget and namespace = p.namespace
                  and charged_from >= p.hour and charged_from < p.hour + interval '1 hour') e
            where h.amount is distinct from e.amount
            """) {
        @Override
        String kind() {
            return HOUR.kind();
        }
    },

    /** No pod is charged twice for the same time. */
    OVERLAP(
            """
            select pod_uid || ' ' || charged_from, before_to, charged_from
            from (select pod_uid, charged_from,
                         lag(charged_to) over (partition by pod_uid order by charged_from) as before_to
                  from charges) c
            where before_to > charged_from
            """),

    /** Whoever is charged was there: no allocation is ever deleted. */
    POD(
            """
            select e.pod_uid::text, sum(e.amount), 0
            from entries e
            where not exists (select from pod_allocation s where s.cluster = :cluster and s.pod_uid = e.pod_uid)
            group by e.pod_uid
            """),

    /**
     * An allocation whose rate never changed was charged from its begin to where it is posted,
     * exactly, but for what people corrected in it.
     */
    ALLOCATION(
            """
            select pod_uid::text, coalesce(amount, 0), due + coalesce(by_hand, 0)
            from (
                select a.pod_uid, sum(e.amount) as amount,
                       a.rate * extract(epoch from greatest(a.posted_until, :since) - a.verified_from) as due,
                       sum(e.rate * greatest(0, extract(epoch from least(e.charged_to, a.posted_until) - e.charged_from)))
                           filter (where e.by_hand) as by_hand,
                       bool_and(abs(e.rate) = a.rate) filter (where not e.by_hand) as steady
                from allocations a left join entries e on e.pod_uid = a.pod_uid
                where a.use_since is null
                group by a.pod_uid, a.rate, a.posted_until, a.verified_from) charged
            where coalesce(amount, 0) <> due + coalesce(by_hand, 0) and coalesce(steady, true)
            """),

    /**
     * Charges leave no second out between an allocation's begin and where it was ever posted,
     * whatever its rates were; but a rate of nothing leaves no charge, so a pod that can have had
     * one is not asked.
     */
    GAP(
            """
            select a.pod_uid::text, coalesce(sum(extract(epoch from c.charged_to - c.charged_from)), 0)::bigint || ' s',
                   extract(epoch from greatest(a.charged_until, :since) - a.verified_from)::bigint || ' s'
            from allocations a left join charges c on c.pod_uid = a.pod_uid
            where least(a.compute_part, a.memory_part, a.rate, a.weight) > 0
            group by a.pod_uid, a.charged_until, a.verified_from
            having coalesce(sum(extract(epoch from c.charged_to - c.charged_from)), 0)
                <> extract(epoch from greatest(a.charged_until, :since) - a.verified_from)
            """),

    /**
     * A rate is what the budget makes of the share, times the weight of the GPU model; rounded
     * after that, so that it may be more than the rounded share's by less than a millionth's
     * weight.
     */
    WEIGHT(
            """
            select pod_uid::text, rate, least(div(share_rate::numeric * weight, 1000000), 100000000000)
            from allocations
            where rate < least(div(share_rate::numeric * weight, 1000000), 100000000000)
               or rate > 0 and rate::numeric * 1000000 >= (share_rate + 1)::numeric * weight
            """),

    /**
     * What was measured makes an allocation cheaper than its share, never dearer, and never a gift:
     * from when its terms last changed on, since an hour may give back what older ones took.
     */
    USE(
            """
            select a.pod_uid::text, sum(e.amount),
                   '0 to ' || a.rate * extract(epoch from a.posted_until - a.use_since)
            from allocations a join
                 (select cluster, pod_uid, charged_from, amount from charge
                  union all
                  select cluster, pod_uid, charged_from, amount from correction where not by_hand) e
                 on e.cluster = :cluster and e.pod_uid = a.pod_uid and e.charged_from >= a.use_since
            where a.use_settled is not null and a.held_from >= :kept
            group by a.pod_uid, a.rate, a.posted_until, a.use_since
            having sum(e.amount) not between 0 and a.rate * extract(epoch from a.posted_until - a.use_since)
            """);

    /** All that is asked of everything since an instant. */
    static final Set<LedgerCheck> OF_SPANS = EnumSet.complementOf(EnumSet.of(HOUR_OF_PODS));

    /** All that is asked of some pods. */
    static final Set<LedgerCheck> OF_PODS = EnumSet.complementOf(EnumSet.of(HOUR));

    private final String question;

    LedgerCheck(String question) {
        this.question = question;
    }

    /** What such a difference is called. */
    String kind() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The question, of all pods or of {@code :pods}. */
    String sql(boolean ofPods) {
        return """
        with charges as not materialized (
            select * from charge where cluster = :cluster and charged_from >= :since and %1$s),
        entries as not materialized (
            select pod_uid, namespace, budget, charged_from, charged_to, rate, amount, false as by_hand, posted_at from charges
            union all
            select pod_uid, namespace, budget, charged_from, charged_to, rate, amount, by_hand, posted_at from correction
            where cluster = :cluster and charged_from >= :since and %1$s),
        allocations as not materialized (
            select *, greatest(held_from, :since) as verified_from from pod_allocation
            where cluster = :cluster and %1$s and (held_until is null or held_until >= :since))
        """
                        .formatted(ofPods ? "pod_uid = any(:pods)" : "true")
                + question;
    }
}
