package io.gpusharing.timekeeper.budget.correction;

import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuCorrection;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuCorrection} that is neither written nor refused.
 *
 * @param uid the object's: it is written once, however often it is carried out
 * @param pod UID; null where {@code namespace} and {@code podName} say which it is
 * @param author as the API server knew them; null if nobody wrote it down
 */
record OrderedCorrection(
        UUID uid,
        String name,
        Instant created,
        String budget,
        @Nullable UUID pod,
        String namespace,
        String podName,
        Instant from,
        Instant to,
        long rate,
        String reason,
        @Nullable String author) {

    /** Of two that mean the same seconds the later one is to stand. */
    static final Comparator<OrderedCorrection> IN_ORDER =
            Comparator.comparing(OrderedCorrection::created).thenComparing(OrderedCorrection::name);

    /**
     * Reads one.
     *
     * @return null if it is done, or withdrawn
     * @throws IllegalArgumentException if it holds an instant or a UID that is none
     */
    static @Nullable OrderedCorrection of(GpuCorrection object) {
        boolean done = object.getStatus() != null && object.getStatus().isDone();
        if (done || object.isMarkedForDeletion()) {
            return null;
        }
        GpuCorrection.Spec spec = object.getSpec();
        GpuCorrection.Pod pod = spec.pod();
        Map<String, String> annotations =
                Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of());
        return new OrderedCorrection(
                UUID.fromString(object.getMetadata().getUid()),
                object.getMetadata().getName(),
                ApiTime.read(object.getMetadata().getCreationTimestamp()),
                spec.budget(),
                pod.uid() == null ? null : UUID.fromString(pod.uid()),
                Objects.requireNonNullElse(pod.namespace(), ""),
                Objects.requireNonNullElse(pod.name(), ""),
                ApiTime.read(spec.from()),
                ApiTime.read(spec.to()),
                spec.rate(),
                spec.reason(),
                annotations.get(Names.AUTHOR_ANNOTATION));
    }

    /** The pod as people know it. */
    String podText() {
        return pod == null ? namespace + "/" + podName : pod.toString();
    }
}
