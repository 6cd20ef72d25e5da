package io.gpusharing.placement;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is free on one node: sums, as kube-scheduler counts them, and each physical GPU.
 *
 * <p>Whether a pod would fit if others went: take what an empty node has, and what is left of that
 * {@link #beside} the pods that remain.
 *
 * @param gpus null where it is unknown who holds which; then the sums decide
 */
public record FreeCapacity(Amounts amounts, @Nullable GpuLayout gpus) {

    /** The same by totals only, as the scheduler's own filters do. */
    public FreeCapacity totals() {
        return new FreeCapacity(amounts, null);
    }

    /** What is left beside a pod that is there. */
    public FreeCapacity beside(PodHold pod) {
        return new FreeCapacity(
                amounts.minus(pod.requests()),
                gpus == null || pod.gpus() == null ? null : gpus.without(pod.gpus()));
    }

    /** What is left once a pod that is still to come has been placed. */
    public FreeCapacity after(PodAsk pod) {
        return new FreeCapacity(
                amounts.minus(pod.requests()),
                gpus == null ? null : gpus.without(gpus.place(pod.gpus()).orElse(List.of())));
    }

    /** Whether the pod fits. */
    public boolean fits(PodAsk pod) {
        return pod.requests().fitInto(amounts)
                && (gpus == null || gpus.place(pod.gpus()).isPresent());
    }
}
