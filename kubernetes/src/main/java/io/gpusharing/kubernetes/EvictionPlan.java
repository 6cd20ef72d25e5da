package io.gpusharing.kubernetes;

import static java.util.Objects.requireNonNull;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuEviction} that could be read: each text in it can be understood. One rule holds for
 * both services, so that nothing is carried out of which no receipt could be kept.
 *
 * @param created when the API server stored it, in whole seconds
 * @param plannedAt when its being carried out began; null before
 * @param settlesAt by when the waiter should be bound; null if nobody waits
 */
public record EvictionPlan(
        GpuEviction object,
        Cause cause,
        Phase phase,
        Instant created,
        @Nullable Instant plannedAt,
        @Nullable Instant settlesAt) {

    private static final Instant LAST = Instant.parse("9999-12-31T00:00:00Z");

    /**
     * Reads an object.
     *
     * @throws RuntimeException if it cannot be read, or a later version wrote it
     */
    public static EvictionPlan of(GpuEviction object) {
        GpuEviction.Spec spec = object.getSpec();
        var _ = UUID.fromString(object.getMetadata().getUid());
        if (spec.victims().isEmpty()) {
            throw new IllegalArgumentException("It names no victim");
        }
        spec.victims().forEach(EvictionPlan::check);
        if (spec.waiter() != null) {
            check(spec.waiter());
        }
        if (spec.considered() != null) {
            check(spec.considered());
        }
        if (object.cause() == Cause.Preemption && spec.settlesAt() == null) {
            throw new IllegalArgumentException("It does not say by when its victims end");
        }
        var plan =
                new EvictionPlan(
                        object,
                        object.cause(),
                        object.phase(),
                        ApiTime.read(object.getMetadata().getCreationTimestamp()),
                        object.getStatus() == null
                                ? null
                                : ApiTime.readPresent(object.getStatus().plannedAt()),
                        ApiTime.readPresent(spec.settlesAt()));
        plan.answers()
                .forEach(it -> {
                    var _ = UUID.fromString(it.uid());
                    var _ = result(it);
                });
        return plan;
    }

    private static void check(Victim victim) {
        checkPod(victim.namespace(), victim.name(), victim.uid());
        var _ = ApiTime.readPresent(victim.refusedSince());
    }

    private static void check(Waiter waiter) {
        checkPod(waiter.namespace(), waiter.name(), waiter.uid());
        Instant since = ApiTime.readPresent(waiter.since());
        if (since != null && (since.isBefore(Instant.EPOCH) || since.isAfter(LAST))) {
            throw new DateTimeException("Nothing can be reckoned with " + waiter.since());
        }
    }

    private static void checkPod(String namespace, String name, String uid) {
        ObjectName.checked(namespace);
        ObjectName.checked(name);
        var _ = UUID.fromString(uid);
    }

    private static void check(Considered considered) {
        requireNonNull(considered.spared(), "spec.considered.spared");
        requireNonNull(considered.nearest(), "spec.considered.nearest");
    }

    /** The object's. */
    public String name() {
        return object.getMetadata().getName();
    }

    /** The object's, a UUID. */
    public String uid() {
        return object.getMetadata().getUid();
    }

    /** The pods that are to end; at least one. */
    public List<Victim> victims() {
        return object.getSpec().victims();
    }

    /** The pod for which room is made; empty if for nobody. */
    public Optional<Waiter> waiter() {
        return Optional.ofNullable(object.getSpec().waiter());
    }

    /** What became of victims; empty while nothing is known. */
    public List<Answer> answers() {
        GpuEviction.Status status = object.getStatus();
        return status == null || status.victims() == null ? List.of() : status.victims();
    }

    /** What the status says of a victim; empty if nothing. */
    public Optional<Answer> answer(Victim victim) {
        return answers().stream().filter(it -> it.uid().equals(victim.uid())).findFirst();
    }

    /** What became of a victim. */
    public static Result result(Answer answer) {
        return Result.valueOf(answer.result());
    }

    /** Whether the status says that a victim ended by this plan. */
    public boolean hasEnded(Victim victim) {
        return answer(victim).filter(it -> result(it).ended()).isPresent();
    }

    /** Since when the API server has let nobody go; null if it has not refused. */
    public @Nullable String refusedSince() {
        return object.getStatus() == null ? null : object.getStatus().refusedSince();
    }

    /** Whether pods are ended for it, and not only looked at. */
    public boolean isCarriedOut() {
        return cause != Cause.Preemption && phase != Phase.Done;
    }

    /** Whether it is over by now who could take the room. */
    public boolean isLate(Instant now) {
        return settlesAt != null && !now.isBefore(settlesAt);
    }
}
