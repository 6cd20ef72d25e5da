package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes a posting into its tables. Rows are written in one order by everybody, so that no two
 * transactions wait for each other.
 */
final class PostingRows {

    private static final Comparator<Entry> BY_BUDGET =
            Comparator.comparing(Entry::budget)
                    .thenComparing(Entry::from)
                    .thenComparing(Entry::pod);

    private static final Comparator<Entry> BY_HOUR =
            Comparator.comparing(Entry::budget)
                    .thenComparing(Entry::hour)
                    .thenComparing(Entry::namespace);

    private final ClusterDatabase database;

    PostingRows(ClusterDatabase database) {
        this.database = database;
    }

    /** Writes allocations that begin or change, and who holds them, in the caller's transaction. */
    void allocate(Posting posting) {
        List<AllocationChange> sorted =
                posting.changes().stream()
                        .sorted(Comparator.comparing(change -> change.after().uid()))
                        .toList();
        begin(
                sorted.stream()
                        .filter(change -> change.before() == null)
                        .map(AllocationChange::after)
                        .toList());
        List<AllocationChange> changed =
                sorted.stream().filter(change -> change.before() != null).toList();
        refine(changed.stream().filter(PostingRows::isRefined).toList());
        change(changed);
        hold(posting.holders());
    }

    /** Writes what is charged, in the same transaction. */
    void charge(Posting posting) {
        charge(posting.charges());
        correct(posting.corrections());
        addToHours(posting);
    }

    private void begin(List<PodAllocation> allocations) {
        database.sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, owner_kind, owner_name, node,
                            budget, rate, compute_part, memory_part, share_known,
                            held_from, posted_until, charged_until, held_until, estimated, end_bound,
                            share_rate, model, weight, weight_known, watched, use_since,
                            compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            begin_estimated, allocation, gpu_mib)
                        select :cluster, * from unnest(:uid::uuid[], :namespace::text[], :name::text[],
                            :owner_kind::text[], :owner_name::text[], :node::text[],
                            :budget::text[], :rate::bigint[], :compute::bigint[], :memory::bigint[], :share_known::boolean[],
                            :held_from::timestamptz[], :posted_until::timestamptz[], :charged_until::timestamptz[],
                            :held_until::timestamptz[], :estimated::boolean[], :end_bound::timestamptz[],
                            :share_rate::bigint[], :model::text[], :weight::bigint[], :weight_known::boolean[],
                            :watched::boolean[], :use_since::timestamptz[],
                            :compute_numerator::bigint[], :compute_denominator::bigint[],
                            :memory_numerator::bigint[], :memory_denominator::bigint[],
                            :begin_estimated::boolean[], :shared::boolean[], :gpu_mib::bigint[])
                        """)
                .rows(allocations)
                .uuid("uid", PodAllocation::uid)
                .text("namespace", PodAllocation::namespace)
                .text("name", PodAllocation::name)
                .text("owner_kind", it -> owner(it, Owner::kind))
                .text("owner_name", it -> owner(it, Owner::name))
                .text("node", PodAllocation::node)
                .text("budget", PodAllocation::budget)
                .number("rate", PodAllocation::rate)
                .number("compute", it -> it.share().compute())
                .number("memory", it -> it.share().memory())
                .flag("share_known", PodAllocation::shareKnown)
                .instant("held_from", PodAllocation::from)
                .instant("posted_until", PodAllocation::postedUntil)
                .instant("charged_until", PodAllocation::chargedUntil)
                .instant("held_until", PodAllocation::until)
                .flag("estimated", PodAllocation::estimated)
                .instant("end_bound", PodAllocation::endBound)
                .number("share_rate", it -> it.price().share())
                .text("model", it -> it.price().weight().model())
                .number("weight", it -> it.price().weight().millionths())
                .flag("weight_known", it -> it.price().weight().known())
                .flag("watched", it -> it.metering().watched())
                .instant("use_since", it -> use(it, ByUse::since))
                .number("compute_numerator", it -> it.share().computePart().numerator())
                .number("compute_denominator", it -> it.share().computePart().denominator())
                .number("memory_numerator", it -> it.share().memoryPart().numerator())
                .number("memory_denominator", it -> it.share().memoryPart().denominator())
                .flag("begin_estimated", PodAllocation::beginEstimated)
                .flag("shared", PodAllocation::isShared)
                .number("gpu_mib", it -> it.price().weight().memoryMiB())
                .update();
    }

    private static @Nullable String owner(PodAllocation allocation, Function<Owner, String> what) {
        Owner owner = allocation.owner();
        return owner == null ? null : what.apply(owner);
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

    private static boolean isRefined(AllocationChange change) {
        PodAllocation before = before(change);
        PodAllocation after = change.after();
        return !before.held().equals(after.held())
                || !before.price().weight().equals(after.price().weight());
    }

    /** It turned out on which GPUs they are. With the rate, which must be what the weight makes. */
    private void refine(List<AllocationChange> changes) {
        database.sql(
                        """
                        update pod_allocation s
                        set rate = u.rate, share_rate = u.share_rate, share_known = u.share_known,
                            compute_part = u.compute, compute_numerator = u.compute_numerator,
                            compute_denominator = u.compute_denominator,
                            memory_part = u.memory, memory_numerator = u.memory_numerator,
                            memory_denominator = u.memory_denominator,
                            model = u.model, gpu_mib = u.gpu_mib, weight = u.weight, weight_known = u.weight_known
                        from unnest(:uid::uuid[], :rate::bigint[], :share_rate::bigint[], :share_known::boolean[],
                                :compute::bigint[], :compute_numerator::bigint[], :compute_denominator::bigint[],
                                :memory::bigint[], :memory_numerator::bigint[], :memory_denominator::bigint[],
                                :model::text[], :gpu_mib::bigint[], :weight::bigint[], :weight_known::boolean[])
                            as u(pod_uid, rate, share_rate, share_known, compute, compute_numerator,
                                compute_denominator, memory, memory_numerator, memory_denominator, model,
                                gpu_mib, weight, weight_known)
                        where s.cluster = :cluster and s.pod_uid = u.pod_uid
                        """)
                .rows(changes.stream().map(AllocationChange::after).toList())
                .uuid("uid", PodAllocation::uid)
                .number("rate", PodAllocation::rate)
                .number("share_rate", it -> it.price().share())
                .flag("share_known", PodAllocation::shareKnown)
                .number("compute", it -> it.share().compute())
                .number("compute_numerator", it -> it.share().computePart().numerator())
                .number("compute_denominator", it -> it.share().computePart().denominator())
                .number("memory", it -> it.share().memory())
                .number("memory_numerator", it -> it.share().memoryPart().numerator())
                .number("memory_denominator", it -> it.share().memoryPart().denominator())
                .text("model", it -> it.price().weight().model())
                .number("gpu_mib", it -> it.price().weight().memoryMiB())
                .number("weight", it -> it.price().weight().millionths())
                .flag("weight_known", it -> it.price().weight().known())
                .update();
    }

    private void change(List<AllocationChange> changes) {
        // The row must be as it was read: of two timekeepers that post the same span one is
        // refused.
        int changed =
                database.sql(
                                """
                                update pod_allocation s
                                set budget = u.budget, rate = u.rate, posted_until = u.posted_until,
                                    charged_until = u.charged_until, held_until = u.held_until,
                                    estimated = u.estimated, end_bound = u.end_bound,
                                    share_rate = u.share_rate, watched = u.watched, use_since = u.use_since,
                                    use_before = u.use_before, covered_before = u.covered_before,
                                    use_settled = u.use_settled
                                from unnest(:uid::uuid[], :was_posted::timestamptz[], :was_held::timestamptz[],
                                        :was_settled::timestamptz[], :budget::text[], :rate::bigint[],
                                        :posted_until::timestamptz[], :charged_until::timestamptz[],
                                        :held_until::timestamptz[], :estimated::boolean[], :end_bound::timestamptz[],
                                        :share_rate::bigint[], :watched::boolean[], :use_since::timestamptz[],
                                        :use_before::bigint[], :covered_before::bigint[], :use_settled::timestamptz[])
                                    as u(pod_uid, was_posted, was_held, was_settled, budget, rate, posted_until,
                                        charged_until, held_until, estimated, end_bound, share_rate, watched,
                                        use_since, use_before, covered_before, use_settled)
                                where s.cluster = :cluster and s.pod_uid = u.pod_uid
                                  and s.posted_until = u.was_posted
                                  and s.held_until is not distinct from u.was_held
                                  and s.use_settled is not distinct from u.was_settled
                                """)
                        .rows(changes)
                        .uuid("uid", it -> it.after().uid())
                        .instant("was_posted", it -> before(it).postedUntil())
                        .instant("was_held", it -> before(it).until())
                        .instant("was_settled", it -> use(before(it), ByUse::settled))
                        .text("budget", it -> it.after().budget())
                        .number("rate", it -> it.after().rate())
                        .instant("posted_until", it -> it.after().postedUntil())
                        .instant("charged_until", it -> it.after().chargedUntil())
                        .instant("held_until", it -> it.after().until())
                        .flag("estimated", it -> it.after().estimated())
                        .instant("end_bound", it -> it.after().endBound())
                        .number("share_rate", it -> it.after().price().share())
                        .flag("watched", it -> it.after().metering().watched())
                        .instant("use_since", it -> use(it.after(), ByUse::since))
                        .number("use_before", it -> counted(it.after(), ByUse::used))
                        .number("covered_before", it -> counted(it.after(), ByUse::covered))
                        .instant("use_settled", it -> use(it.after(), ByUse::settled))
                        .update();
        if (changed != changes.size()) {
            throw new OutOfStepException(changes.size() - changed);
        }
    }

    private static PodAllocation before(AllocationChange change) {
        return Objects.requireNonNull(change.before());
    }

    private void hold(List<Holder> holders) {
        database.sql(
                        """
                        insert into claim_holder (cluster, allocation, pod_uid)
                        select :cluster, * from unnest(:claim::uuid[], :pod::uuid[])
                        """)
                .rows(holders)
                .uuid("claim", Holder::claim)
                .uuid("pod", Holder::pod)
                .update();
    }

    private void charge(List<Entry> charges) {
        // An hour's entries of a budget lie together, so that a statement reads few blocks however
        // many other budgets there are.
        List<Entry> sorted = charges.stream().sorted(BY_BUDGET).toList();
        database.sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        select :cluster, * from unnest(:pod::uuid[], :from::timestamptz[], :to::timestamptz[],
                            :namespace::text[], :budget::text[], :rate::bigint[], :amount::bigint[])
                        """)
                .rows(sorted)
                .uuid("pod", Entry::pod)
                .instant("from", Entry::from)
                .instant("to", Entry::to)
                .text("namespace", Entry::namespace)
                .text("budget", Entry::budget)
                .number("rate", Entry::rate)
                .number("amount", entry -> entry.amount().microGpuSeconds())
                .update();
    }

    private void correct(List<Correction> corrections) {
        database.sql(
                        """
                        insert into correction (cluster, id, pod_uid, charged_from, charged_to, namespace, budget,
                            rate, amount, reason, author, by_hand, object)
                        select :cluster, * from unnest(:id::uuid[], :pod::uuid[],
                            :from::timestamptz[], :to::timestamptz[], :namespace::text[], :budget::text[],
                            :rate::bigint[], :amount::bigint[], :reason::text[], :author::text[], :hand::bool[],
                            :object::uuid[])
                        """)
                .rows(corrections)
                .uuid("id", Correction::id)
                .uuid("pod", correction -> correction.entry().pod())
                .instant("from", correction -> correction.entry().from())
                .instant("to", correction -> correction.entry().to())
                .text("namespace", correction -> correction.entry().namespace())
                .text("budget", correction -> correction.entry().budget())
                .number("rate", correction -> correction.entry().rate())
                .number("amount", correction -> correction.entry().amount().microGpuSeconds())
                .text("reason", Correction::reason)
                .text("author", Correction::author)
                .flag("hand", Correction::byHand)
                .uuid("object", Correction::object)
                .update();
    }

    private void addToHours(Posting posting) {
        var sums = new TreeMap<Entry, Long>(BY_HOUR);
        posting.entries()
                .forEach(entry ->
                        sums.merge(entry, entry.amount().microGpuSeconds(), Math::addExact));
        database.sql(
                        """
                        insert into usage_hour (cluster, budget, namespace, hour, amount)
                        select :cluster, * from unnest(:budget::text[], :namespace::text[], :hour::timestamptz[],
                            :amount::bigint[])
                        on conflict (cluster, budget, hour, namespace)
                        do update set amount = usage_hour.amount + excluded.amount
                        """)
                .rows(List.copyOf(sums.entrySet()))
                .text("budget", sum -> sum.getKey().budget())
                .text("namespace", sum -> sum.getKey().namespace())
                .instant("hour", sum -> sum.getKey().hour())
                .number("amount", Map.Entry::getValue)
                .update();
    }
}
