package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** When a pod ends, once it is told to. */
public final class PodEnd {

    /** What the API server writes where nothing is said. */
    private static final long DEFAULT_GRACE = 30;

    private PodEnd() {}

    /** By when its grace is over; null if it is not being deleted. */
    public static @Nullable Instant of(Pod pod) {
        return ApiTime.readPresent(pod.getMetadata().getDeletionTimestamp());
    }

    /**
     * What it has to end: its own grace, or what it was deleted with if that is longer. The API
     * server takes a negative one, too, and kubelets take it for a second.
     */
    public static Duration grace(Pod pod) {
        long own =
                requireNonNullElse(pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE);
        long given = requireNonNullElse(pod.getMetadata().getDeletionGracePeriodSeconds(), 0L);
        return Duration.ofSeconds(Math.max(1, Math.max(own, given)));
    }
}
