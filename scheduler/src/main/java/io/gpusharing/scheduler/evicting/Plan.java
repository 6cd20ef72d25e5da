package io.gpusharing.scheduler.evicting;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.kubernetes.ObjectName;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuEviction} that could be read.
 *
 * @param created when the API server stored it, in whole seconds
 * @param plannedAt when its being carried out began; null before
 * @param settlesAt by when the waiter should be bound; null if nobody waits
 */
public record Plan(
        GpuEviction object,
        Cause cause,
        Phase phase,
        Instant created,
        @Nullable Instant plannedAt,
        @Nullable Instant settlesAt) {

    /**
     * Reads an object.
     *
     * @throws RuntimeException if it cannot be read, or a later version wrote it
     */
    public static Plan of(GpuEviction object) {
        List<Victim> victims = object.getSpec().victims();
        if (victims.isEmpty()) {
            throw new IllegalArgumentException("It names no victim");
        }
        for (Victim victim : victims) {
            ObjectName.checked(victim.namespace());
            ObjectName.checked(victim.name());
            ApiTime.readPresent(victim.refusedSince());
        }
        Waiter waiter = object.getSpec().waiter();
        if (waiter != null) {
            ObjectName.checked(waiter.namespace());
            ObjectName.checked(waiter.name());
        }
        if (object.cause() == Cause.Preemption && object.getSpec().settlesAt() == null) {
            throw new IllegalArgumentException("It does not say by when its victims end");
        }
        GpuEviction.Status status = object.getStatus();
        if (status != null && status.victims() != null) {
            status.victims().forEach(it -> Result.valueOf(it.result()));
        }
        return new Plan(
                object,
                object.cause(),
                object.phase(),
                requireNonNullElse(
                        ApiTime.readPresent(object.getMetadata().getCreationTimestamp()),
                        Instant.EPOCH),
                status == null ? null : ApiTime.readPresent(status.plannedAt()),
                ApiTime.readPresent(object.getSpec().settlesAt()));
    }

    /** The object's. */
    public String name() {
        return object.getMetadata().getName();
    }

    /** The object's. */
    public String uid() {
        return object.getMetadata().getUid();
    }

    /** The pods that are to end. */
    public List<Victim> victims() {
        return object.getSpec().victims();
    }

    /** The pod for which room is made; empty if for nobody. */
    public Optional<Waiter> waiter() {
        return Optional.ofNullable(object.getSpec().waiter());
    }

    /** What the status says of a victim; empty if nothing. */
    public Optional<Answer> answer(Victim victim) {
        GpuEviction.Status status = object.getStatus();
        return status == null || status.victims() == null
                ? Optional.empty()
                : status.victims().stream().filter(it -> it.uid().equals(victim.uid())).findFirst();
    }

    /** Whether the status says that a victim ended by this plan. */
    boolean hasEnded(Victim victim) {
        return answer(victim).filter(it -> Result.valueOf(it.result()).ended()).isPresent();
    }

    /** Since when the API server has let nobody go; null if it has not refused. */
    @Nullable String refusedSince() {
        return object.getStatus() == null ? null : object.getStatus().refusedSince();
    }

    /** Whether pods are ended for it, and not only looked at. */
    boolean isCarriedOut() {
        return cause != Cause.Preemption && phase != Phase.Done;
    }

    /** Whether it is over by now who could take the room. */
    public boolean isLate(Instant now) {
        return settlesAt != null && !now.isBefore(settlesAt);
    }
}
