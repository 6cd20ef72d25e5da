package io.gpusharing.placement;

import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
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
        return pod.requests().fitInto(amounts) && fitsOnGpus(pod);
    }

    /** Whether its GPUs are free, as far as it is known who holds which. */
    public boolean fitsOnGpus(PodAsk pod) {
        if (gpus == null) {
            return true;
        }
        GpuAsk single = single(pod);
        // Both are the same, and this much faster.
        return single == null
                ? place(pod, gpus).isPresent()
                : gpus.gpus().stream().filter(gpu -> gpu.fits(single)).count() >= single.count();
    }

    /** What the pod asks for, if it is one thing and may be on any GPU; else null. */
    private @Nullable GpuAsk single(PodAsk pod) {
        if (!shared) {
            return pod.gpus().size() == 1 ? pod.gpus().getFirst() : null;
        }
        ContainerAsk first = pod.containers().size() == 1 ? pod.containers().getFirst() : null;
        return first != null && first.on().isEmpty() ? first.ask() : null;
    }

    /**
     * Whether the pod fits, too, where more is free: several containers may be packed worse then.
     */
    public boolean isMonotone(PodAsk pod) {
        return gpus == null || (shared ? pod.containers() : pod.gpus()).size() < 2;
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
