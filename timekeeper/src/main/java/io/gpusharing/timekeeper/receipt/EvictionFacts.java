package io.gpusharing.timekeeper.receipt;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code GpuEviction} says, as far as its texts have to be understood.
 *
 * @param createdAt when it was asked for, a whole second
 * @param phase {@link Phase#Asked} only if nothing can have been done yet
 * @param victims at least one, by UID
 * @param answers what became of victims, by UID; empty while nothing is known
 */
record EvictionFacts(
        UUID uid,
        Instant createdAt,
        Cause cause,
        Phase phase,
        Map<UUID, GpuEviction.Victim> victims,
        Map<UUID, Answer> answers,
        @Nullable UUID waiter,
        @Nullable Instant waiterSince) {

    private static final Instant LAST = Instant.parse("9999-12-31T00:00:00Z");

    /**
     * @param detail in the API server's own words; empty where it said nothing
     */
    record Answer(Result result, String detail) {}

    /**
     * @throws RuntimeException if a later version wrote what this one does not know, or somebody
     *     what nobody can read
     */
    static EvictionFacts of(GpuEviction object) {
        var spec = object.getSpec();
        var status = object.getStatus();
        var victims = new HashMap<UUID, GpuEviction.Victim>();
        spec.victims().forEach(it -> victims.put(UUID.fromString(it.uid()), it));
        if (victims.isEmpty()) {
            throw new IllegalArgumentException("spec.victims is empty");
        }
        if (spec.considered() != null) {
            Objects.requireNonNull(spec.considered().spared(), "spec.considered.spared");
            Objects.requireNonNull(spec.considered().nearest(), "spec.considered.nearest");
        }
        var waiter = spec.waiter();
        return new EvictionFacts(
                UUID.fromString(object.getMetadata().getUid()),
                ApiTime.read(object.getMetadata().getCreationTimestamp()),
                object.cause(),
                phase(object),
                Map.copyOf(victims),
                answers(status == null ? null : status.victims()),
                waiter == null ? null : UUID.fromString(waiter.uid()),
                waiter == null ? null : instant(waiter.since()));
    }

    /** While nobody has followed a preemption yet, kube-scheduler may have done it. */
    private static Phase phase(GpuEviction object) {
        return object.phase() == Phase.Asked && object.cause() == Cause.Preemption
                ? Phase.Planned
                : object.phase();
    }

    private static Map<UUID, Answer> answers(@Nullable List<GpuEviction.Answer> answers) {
        var byVictim = new HashMap<UUID, Answer>();
        if (answers != null) {
            for (GpuEviction.Answer it : answers) {
                byVictim.put(
                        UUID.fromString(it.uid()),
                        new Answer(
                                Result.valueOf(it.result()),
                                it.detail() == null ? "" : it.detail()));
            }
        }
        return Map.copyOf(byVictim);
    }

    private static @Nullable Instant instant(@Nullable String text) {
        if (text == null) {
            return null;
        }
        Instant instant = ApiTime.read(text);
        if (instant.isBefore(Instant.EPOCH) || instant.isAfter(LAST)) {
            throw new DateTimeException("Nothing can be reckoned with " + text);
        }
        return instant;
    }
}
