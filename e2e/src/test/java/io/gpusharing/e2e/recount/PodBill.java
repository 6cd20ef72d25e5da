package io.gpusharing.e2e.recount;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What one pod held, and how long.
 *
 * @param microGpus what it holds: 1 000 000 is one whole GPU
 * @param from the transition of its PodScheduled condition
 * @param to when it ended; null while it has not
 */
public record PodBill(
        String uid,
        String namespace,
        String name,
        long microGpus,
        Instant from,
        @Nullable Instant to) {

    /**
     * @return micro-GPU-seconds; exact, because the API server's times are whole seconds
     * @throws IllegalStateException if the pod has not ended
     */
    public long microGpuSeconds() {
        if (to == null) {
            throw new IllegalStateException(namespace + "/" + name + " still runs");
        }
        return Math.multiplyExact(microGpus, Duration.between(from, to).toSeconds());
    }
}
