package io.gpusharing.scheduler.reclaiming;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.scheduler.picture.PastEviction;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code GpuEviction} of reclaim says of the past.
 *
 * @param uid the object's
 * @param at when it was written, by the API server's clock
 * @param settlesAt by when the waiter should be bound
 * @param workload what the waiter belongs to
 * @param node where room was to be made
 * @param helped whether the waiter was bound there in time, as far as is known
 */
record ReclaimPlan(
        String uid,
        Instant at,
        Instant settlesAt,
        Phase phase,
        PodRef waiter,
        String workload,
        String waiterBudget,
        String node,
        List<Victim> victims,
        List<Answer> answers,
        boolean helped) {

    /** Reads one; empty if it is of another cause. */
    static Optional<ReclaimPlan> of(GpuEviction object) {
        GpuEviction.Spec spec = object.getSpec();
        Status status = object.getStatus();
        if (object.cause() != Cause.Reclaim || spec.waiter() == null || spec.settlesAt() == null) {
            return Optional.empty();
        }
        Waiter waiter = spec.waiter();
        return Optional.of(
                new ReclaimPlan(
                        object.getMetadata().getUid(),
                        ApiTime.read(object.getMetadata().getCreationTimestamp()),
                        ApiTime.read(spec.settlesAt()),
                        object.phase(),
                        new PodRef(waiter.uid(), waiter.namespace(), waiter.name()),
                        requireNonNullElse(waiter.workload(), waiter.uid()),
                        budget(waiter.budget(), waiter.namespace()),
                        spec.node(),
                        spec.victims(),
                        status == null
                                ? List.of()
                                : requireNonNullElse(status.victims(), List.of()),
                        status != null && status.outcome() != null && status.outcome().helped()));
    }

    /** Whether nobody went, and nobody will. */
    boolean isInVain() {
        return phase == Phase.Refused || phase == Phase.NotDone;
    }

    /** UIDs of the victims that will have gone by its end, though they may not show it yet. */
    Stream<String> going() {
        return phase == Phase.Asked || phase == Phase.Planned
                ? victims.stream().map(Victim::uid)
                : Stream.empty();
    }

    /** Victims that went, or may have: of those without an answer nobody knows. */
    List<PastEviction> evictions() {
        return victims.stream()
                .filter(victim -> {
                    Result result = result(victim);
                    // Where nobody went for another reason, the same plan would be made again.
                    return phase == Phase.NotDone || result == null || !result.remained();
                })
                .map(victim ->
                        new PastEviction(
                                uid,
                                at,
                                settlesAt,
                                waiter,
                                workload,
                                waiterBudget,
                                budget(victim.budget(), victim.namespace()),
                                node,
                                helped))
                .toList();
    }

    /** Victims whom the API server did not let go. */
    List<Refusal> refusals() {
        return victims.stream()
                .filter(victim -> result(victim) == Result.Refused)
                .map(victim -> new Refusal(at, waiter.uid(), workload, victim.uid()))
                .toList();
    }

    private @Nullable Result result(Victim victim) {
        return answers.stream()
                .filter(it -> it.uid().equals(victim.uid()))
                .map(it -> Result.valueOf(it.result()))
                .findFirst()
                .orElse(null);
    }

    /** Without one, a name that no budget can have. */
    private static String budget(@Nullable String name, String namespace) {
        return requireNonNullElse(name, "/" + namespace);
    }
}
