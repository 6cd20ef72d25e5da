package io.gpusharing.scheduler.reclaiming;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.picture.Past.Refusal;
import io.gpusharing.scheduler.picture.PodRef;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code GpuEviction} of reclaim says of the past.
 *
 * @param plan the object, as it was read
 * @param settlesAt by when the waiter should be bound
 * @param workload what the waiter belongs to
 */
record ReclaimPlan(
        EvictionPlan plan, Instant settlesAt, PodRef waiter, String workload, String waiterBudget) {

    /** Takes what was read; empty if it is of another cause. */
    static Optional<ReclaimPlan> of(EvictionPlan plan) {
        Waiter waiter = plan.object().getSpec().waiter();
        Instant settlesAt = plan.settlesAt();
        if (plan.cause() != Cause.Reclaim || waiter == null || settlesAt == null) {
            return Optional.empty();
        }
        return Optional.of(
                new ReclaimPlan(
                        plan,
                        settlesAt,
                        new PodRef(waiter.uid(), waiter.namespace(), waiter.name()),
                        requireNonNullElse(waiter.workload(), waiter.uid()),
                        budget(waiter.budget(), waiter.namespace())));
    }

    /** The object's UID. */
    String uid() {
        return plan.uid();
    }

    /** When it was written, by the API server's clock. */
    Instant at() {
        return plan.created();
    }

    /** Whether nobody went, and nobody will. */
    boolean isInVain() {
        return plan.object().isInVain();
    }

    /** UIDs of the victims that will have gone by its end, though they may not show it yet. */
    Stream<String> going() {
        return plan.phase() == Phase.Asked || plan.phase() == Phase.Planned
                ? plan.victims().stream().map(Victim::uid)
                : Stream.empty();
    }

    /**
     * Victims that went, or may have: of those without an answer nobody knows. And those of a plan
     * for which nobody went for another reason: the same would be made again.
     */
    List<PastEviction> evictions() {
        return plan.victims().stream()
                .filter(victim -> plan.phase() == Phase.NotDone || mayHaveGone(victim))
                .map(victim ->
                        new PastEviction(
                                uid(),
                                at(),
                                settlesAt,
                                waiter,
                                workload,
                                waiterBudget,
                                budget(victim.budget(), victim.namespace()),
                                plan.object().getSpec().node(),
                                mayHaveGone(victim),
                                helped()))
                .toList();
    }

    private boolean mayHaveGone(Victim victim) {
        Result result = result(victim);
        return result == null ? plan.phase() != Phase.NotDone : !result.remained();
    }

    /** Victims whom the API server did not let go. */
    List<Refusal> refusals() {
        return plan.victims().stream()
                .filter(victim -> result(victim) == Result.Refused)
                .map(victim -> new Refusal(at(), waiter.uid(), workload, victim.uid()))
                .toList();
    }

    /** Whether the waiter was bound in time where room was made, as far as is known. */
    private boolean helped() {
        GpuEviction.Status status = plan.object().getStatus();
        return status != null && status.outcome() != null && status.outcome().helped();
    }

    private @Nullable Result result(Victim victim) {
        return plan.answer(victim).map(it -> Result.valueOf(it.result())).orElse(null);
    }

    /** Without one, a name that no budget can have. */
    private static String budget(@Nullable String name, String namespace) {
        return requireNonNullElse(name, "/" + namespace);
    }
}
