package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.allocation.PodFacts.Owner;
import io.gpusharing.timekeeper.database.ArrayParameters;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Writes the allocations of a posting. */
final class AllocationRows {

    private final JdbcClient jdbc;
    private final String cluster;

    AllocationRows(JdbcClient jdbc, String cluster) {
        this.jdbc = jdbc;
        this.cluster = cluster;
    }

    /**
     * Writes allocations that begin or change, in the caller's transaction and in the order of
     * their uids.
     *
     * @throws OutOfStepException if the rows are not as they were read
     */
    void write(List<AllocationChange> changes) {
        List<AllocationChange> sorted =
                changes.stream()
                        .sorted(Comparator.comparing(change -> change.after().uid()))
                        .toList();
        begin(
                sorted.stream()
                        .filter(change -> change.before() == null)
                        .map(AllocationChange::after)
                        .toList());
        change(sorted.stream().filter(change -> change.before() != null).toList());
    }

    private void begin(List<PodAllocation> allocations) {
        if (allocations.isEmpty()) {
            return;
        }
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
                                .text(allocation -> owner(allocation, Owner::kind))
                                .text(allocation -> owner(allocation, Owner::name))
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

    private void change(List<AllocationChange> changes) {
        if (changes.isEmpty()) {
            return;
        }
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
                                ArrayParameters.of(changes)
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

    private static PodAllocation before(AllocationChange change) {
        return Objects.requireNonNull(change.before());
    }
}
