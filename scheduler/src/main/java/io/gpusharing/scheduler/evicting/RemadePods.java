package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Which pods their controllers made anew after others of theirs had been evicted. */
final class RemadePods {

    private static final Duration REMEMBERED = Duration.ofHours(1);

    /** By the controller's UID. */
    private final Map<String, Evicted> evicted = new HashMap<>();

    private record Evicted(Instant first, Instant last) {}

    /** A pod of it was evicted. */
    void evicted(Pod pod, Instant now) {
        controller(pod)
                .ifPresent(uid ->
                        evicted.merge(
                                uid,
                                new Evicted(now, now),
                                (before, it) -> new Evicted(before.first(), now)));
    }

    /** Whether it was made after the first eviction, of those that are not long ago. */
    boolean isAnew(Pod pod, Instant now) {
        evicted.values().removeIf(it -> it.last().plus(REMEMBERED).isBefore(now));
        Instant created = ApiTime.read(pod.getMetadata().getCreationTimestamp());
        return controller(pod)
                .map(evicted::get)
                // The API server stamps whole seconds.
                .filter(it -> !created.isBefore(it.first().truncatedTo(ChronoUnit.SECONDS)))
                .isPresent();
    }

    private static Optional<String> controller(Pod pod) {
        return pod.getMetadata().getOwnerReferences().stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .map(OwnerReference::getUid)
                .findFirst();
    }
}
