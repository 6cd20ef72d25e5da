package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ArrayParameters;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.Posting.Read;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Writes a posting into its tables. Rows are written in one order by everybody, so that no two
 * transactions wait for each other.
 */
final class PostingRows {

    private static final Comparator<Entry> BY_BUDGET =
            Comparator.comparing(Entry::budget)
                    .thenComparing(Entry::from)
                    .thenComparing(Entry::pod);

    private final JdbcClient jdbc;
    private final String cluster;

    PostingRows(JdbcClient jdbc, String cluster) {
        this.jdbc = jdbc;
        this.cluster = cluster;
    }

    /**
     * Writes all of a posting, in the caller's transaction.
     *
     * @throws OutOfStepException if the rows are not what the posting was drawn up from
     */
    void write(Posting posting) {
        begin(posting.changes().stream().filter(change -> change.before() == null).toList());
        change(posting.changes().stream().filter(change -> change.before() != null).toList());
        hold(posting.holders());
        demandThatAllWasRead(posting.read());
        charge(posting.charges());
        correct(posting.corrections());
        addToHours(posting);
        advance(posting.heard());
    }

    private void begin(List<AllocationChange> changes) {
        if (changes.isEmpty()) {
            return;
        }
        List<PodAllocation> allocations = sorted(changes);
        jdbc.sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, owner_kind, owner_name, node,
                            budget, rate, compute_part, memory_part, share_known,
                            held_from, posted_until, charged_until, held_until, estimated, end_bound,
                            share_rate, model, weight, weight_known, watched, use_since,
                            compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            begin_estimated, allocation)
                        select ?, * from unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                            ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::boolean[], ?::timestamptz[],
                            ?::timestamptz[], ?::timestamptz[], ?::timestamptz[], ?::boolean[], ?::timestamptz[],
                            ?::bigint[], ?::text[], ?::bigint[], ?::boolean[], ?::boolean[], ?::timestamptz[],
                            ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::boolean[], ?::boolean[])
                        """)
                .params(
                        ArrayParameters.of(allocations)
                                .constant(cluster)
                                .uuid(PodAllocation::uid)
                                .text(PodAllocation::namespace)
                                .text(PodAllocation::name)
                                .text(allocation ->
                                        allocation.owner() == null
                                                ? null
                                                : allocation.owner().kind())
                                .text(allocation ->
                                        allocation.owner() == null
                                                ? null
                                                : allocation.owner().name())
                                .text(PodAllocation::node)
                                .text(PodAllocation::budget)
                                .number(PodAllocation::rate)
                                .number(allocation -> allocation.share().compute())
                                .number(allocation -> allocation.share().memory())
                                .flag(PodAllocation::shareKnown)
                                .instant(PodAllocation::from)
                                .instant(PodAllocation::postedUntil)
                                .instant(PodAllocation::chargedUntil)
                                .instant(PodAllocation::until)
                                .flag(PodAllocation::estimated)
                                .instant(PodAllocation::endBound)
                                .number(allocation -> allocation.price().share())
                                .text(allocation -> allocation.price().weight().model())
                                .number(allocation -> allocation.price().weight().millionths())
                                .flag(allocation -> allocation.price().weight().known())
                                .flag(allocation -> allocation.metering().watched())
                                .instant(allocation -> use(allocation, ByUse::since))
                                .number(allocation -> allocation.share().computePart().numerator())
                                .number(allocation ->
                                        allocation.share().computePart().denominator())
                                .number(allocation -> allocation.share().memoryPart().numerator())
                                .number(allocation -> allocation.share().memoryPart().denominator())
                                .flag(PodAllocation::beginEstimated)
                                .flag(PodAllocation::isShared)
                                .parameters())
                .update();
    }

    private static <T> @Nullable T use(
            PodAllocation allocation, Function<ByUse, @Nullable T> what) {
        ByUse use = allocation.metering().use();
        return use == null ? null : what.apply(use);
    }

    private static long counted(PodAllocation allocation, ToLongFunction<ByUse> what) {
        ByUse use = allocation.metering().use();
        return use == null ? 0 : what.applyAsLong(use);
    }

    private void change(List<AllocationChange> changes) {
        if (changes.isEmpty()) {
            return;
        }
        List<AllocationChange> sorted =
                changes.stream()
                        .sorted(Comparator.comparing(change -> change.after().uid()))
                        .toList();
        // The row must be as it was read: of two timekeepers that post the same span one is
        // refused.
        int changed =
                jdbc.sql(
                                """
                                update pod_allocation s
                                set budget = u.budget, rate = u.rate, posted_until = u.posted_until,
                                    charged_until = u.charged_until, held_until = u.held_until,
                                    estimated = u.estimated, end_bound = u.end_bound,
                                    share_rate = u.share_rate, watched = u.watched, use_since = u.use_since,
                                    use_before = u.use_before, covered_before = u.covered_before,
                                    use_settled = u.use_settled
                                from (select ?::text as cluster, * from unnest(?::uuid[], ?::timestamptz[],
                                        ?::timestamptz[], ?::text[], ?::bigint[], ?::timestamptz[],
                                        ?::timestamptz[], ?::timestamptz[], ?::boolean[], ?::timestamptz[],
                                        ?::timestamptz[], ?::bigint[], ?::boolean[], ?::timestamptz[],
                                        ?::bigint[], ?::bigint[], ?::timestamptz[])
                                    as u(pod_uid, was_posted, was_held, budget, rate, posted_until,
                                        charged_until, held_until, estimated, end_bound,
                                        was_settled, share_rate, watched, use_since,
                                        use_before, covered_before, use_settled)) u
                                where s.cluster = u.cluster and s.pod_uid = u.pod_uid
                                  and s.posted_until = u.was_posted
                                  and s.held_until is not distinct from u.was_held
                                  and s.use_settled is not distinct from u.was_settled
                                """)
                        .params(
                                ArrayParameters.of(sorted)
                                        .constant(cluster)
                                        .uuid(change -> change.after().uid())
                                        .instant(change -> before(change).postedUntil())
                                        .instant(change -> before(change).until())
                                        .text(change -> change.after().budget())
                                        .number(change -> change.after().rate())
                                        .instant(change -> change.after().postedUntil())
                                        .instant(change -> change.after().chargedUntil())
                                        .instant(change -> change.after().until())
                                        .flag(change -> change.after().estimated())
                                        .instant(change -> change.after().endBound())
                                        .instant(change -> use(before(change), ByUse::settled))
                                        .number(change -> change.after().price().share())
                                        .flag(change -> change.after().metering().watched())
                                        .instant(change -> use(change.after(), ByUse::since))
                                        .number(change -> counted(change.after(), ByUse::used))
                                        .number(change -> counted(change.after(), ByUse::covered))
                                        .instant(change -> use(change.after(), ByUse::settled))
                                        .parameters())
                        .update();
        if (changed != changes.size()) {
            throw new OutOfStepException(changes.size() - changed);
        }
    }

    private void hold(List<Holder> holders) {
        if (holders.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into claim_holder (cluster, allocation, pod_uid)
                        select ?, * from unnest(?::uuid[], ?::uuid[])
                        """)
                .params(
                        ArrayParameters.of(holders)
                                .constant(cluster)
                                .uuid(Holder::claim)
                                .uuid(Holder::pod)
                                .parameters())
                .update();
    }

    /**
     * People correct without changing an allocation: what they wrote after a leader fell asleep
     * over an end would not be taken back. Nobody writes more of these pods while we hold their
     * allocations.
     */
    private void demandThatAllWasRead(List<Read> read) {
        if (read.isEmpty()) {
            return;
        }
        int grown =
                jdbc.sql(
                                """
                                select count(*) from unnest(?::uuid[], ?::timestamptz[], ?::bigint[])
                                    as r(pod_uid, beyond, entries)
                                where r.entries <>
                                    (select count(*) from charge c where c.cluster = ?
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                  + (select count(*) from correction c where c.cluster = ?
                                        and c.pod_uid = r.pod_uid and c.charged_to > r.beyond)
                                """)
                        .params(
                                ArrayParameters.of(read)
                                        .uuid(Read::pod)
                                        .instant(Read::beyond)
                                        .number(Read::entries)
                                        .constant(cluster)
                                        .constant(cluster)
                                        .parameters())
                        .query(Integer.class)
                        .single();
        if (grown > 0) {
            throw new OutOfStepException(grown);
        }
    }

    private void charge(List<Entry> charges) {
        if (charges.isEmpty()) {
            return;
        }
        // An hour's entries of a budget lie together, so that a statement reads few blocks however
        // many other budgets there are.
        List<Entry> sorted = charges.stream().sorted(BY_BUDGET).toList();
        jdbc.sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        select ?, * from unnest(?::uuid[], ?::timestamptz[], ?::timestamptz[], ?::text[], ?::text[],
                            ?::bigint[], ?::bigint[])
                        """)
                .params(
                        ArrayParameters.of(sorted)
                                .constant(cluster)
                                .uuid(Entry::pod)
                                .instant(Entry::from)
                                .instant(Entry::to)
                                .text(Entry::namespace)
                                .text(Entry::budget)
                                .number(Entry::rate)
                                .number(entry -> entry.amount().microGpuSeconds())
                                .parameters())
                .update();
    }

    private void correct(List<Correction> corrections) {
        if (corrections.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into correction (cluster, id, pod_uid, charged_from, charged_to, namespace, budget,
                            rate, amount, reason, author)
                        select ?, u.*, 'timekeeper' from unnest(?::uuid[], ?::uuid[], ?::timestamptz[],
                            ?::timestamptz[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::text[]) u
                        """)
                .params(
                        ArrayParameters.of(corrections)
                                .constant(cluster)
                                .uuid(correction -> UUID.randomUUID())
                                .uuid(correction -> correction.entry().pod())
                                .instant(correction -> correction.entry().from())
                                .instant(correction -> correction.entry().to())
                                .text(correction -> correction.entry().namespace())
                                .text(correction -> correction.entry().budget())
                                .number(correction -> correction.entry().rate())
                                .number(correction -> correction.entry().amount().microGpuSeconds())
                                .text(Correction::reason)
                                .parameters())
                .update();
    }

    private void addToHours(Posting posting) {
        var sums = new TreeMap<UsageHour, Long>(UsageHour.ORDER);
        posting.entries()
                .forEach(entry ->
                        sums.merge(
                                UsageHour.of(entry),
                                entry.amount().microGpuSeconds(),
                                Math::addExact));
        if (sums.isEmpty()) {
            return;
        }
        jdbc.sql(
                        """
                        insert into usage_hour (cluster, budget, namespace, hour, amount)
                        select ?, * from unnest(?::text[], ?::text[], ?::timestamptz[], ?::bigint[])
                        on conflict (cluster, budget, hour, namespace)
                        do update set amount = usage_hour.amount + excluded.amount
                        """)
                .params(
                        ArrayParameters.of(List.copyOf(sums.entrySet()))
                                .constant(cluster)
                                .text(sum -> sum.getKey().budget())
                                .text(sum -> sum.getKey().namespace())
                                .instant(sum -> sum.getKey().hour())
                                .number(Map.Entry::getValue)
                                .parameters())
                .update();
    }

    private void advance(FeedPosition heard) {
        if (heard.equals(FeedPosition.NOTHING)) {
            return;
        }
        jdbc.sql(
                        """
                        update cluster set pod_position = coalesce(:position::text, pod_position),
                            seen_until = greatest(seen_until, :seen::timestamptz),
                            swept_until = coalesce(:swept::timestamptz, swept_until)
                        where id = :id
                        """)
                .param("id", cluster)
                .param("position", heard.position())
                .param("seen", Timestamps.text(heard.seen()))
                .param("swept", Timestamps.text(heard.swept()))
                .update();
    }

    private static PodAllocation before(AllocationChange change) {
        if (change.before() == null) {
            throw new IllegalArgumentException("This allocation begins: " + change.after());
        }
        return change.before();
    }

    private static List<PodAllocation> sorted(List<AllocationChange> changes) {
        return changes.stream()
                .map(AllocationChange::after)
                .sorted(Comparator.comparing(PodAllocation::uid))
                .toList();
    }

    /** An hour's sum. */
    private record UsageHour(String budget, Instant hour, String namespace) {

        static final Comparator<UsageHour> ORDER =
                Comparator.comparing(UsageHour::budget)
                        .thenComparing(UsageHour::hour)
                        .thenComparing(UsageHour::namespace);

        static UsageHour of(Entry entry) {
            return new UsageHour(entry.budget(), entry.hour(), entry.namespace());
        }
    }
}
