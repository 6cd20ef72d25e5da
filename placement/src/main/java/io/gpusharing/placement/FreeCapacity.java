package io.gpusharing.placement;

import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is free on one node: sums, as kube-scheduler counts them, and each physical GPU.
 *
 * @param gpus null where it is unknown who holds which; then the sums decide
 * @param shared whether our device plugin hands the GPUs out, so that a pod's containers are placed
 *     as our scheduler does it
 */
public record FreeCapacity(Amounts amounts, @Nullable GpuLayout gpus, boolean shared) {

    /** Where GPUs are another provider's. */
    public FreeCapacity(Amounts amounts, @Nullable GpuLayout gpus) {
        this(amounts, gpus, false);
    }

    /** What is left once a pod that is still to come has been placed. */
    public FreeCapacity after(PodAsk pod) {
        return new FreeCapacity(
                amounts.minus(pod.requests()),
                gpus == null ? null : gpus.without(place(pod, gpus).orElse(List.of())),
                shared);
    }

    /** Whether the pod fits. */
    public boolean fits(PodAsk pod) {
        return pod.requests().fitInto(amounts) && (gpus == null || place(pod, gpus).isPresent());
    }

    /** Which GPUs it would hold; empty if that is unknown, or it does not fit. */
    public Optional<List<GpuHold>> place(PodAsk pod) {
        return gpus == null ? Optional.empty() : place(pod, gpus);
    }

    private Optional<List<GpuHold>> place(PodAsk pod, GpuLayout layout) {
        return shared
                ? PodPlacement.placed(pod.containers(), layout).map(ContainerPlacement::held)
                : layout.place(pod.gpus());
    }
}
