package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import java.util.List;

/**
 * A pod that asks for GPUs of ours.
 *
 * @param asks what its containers ask of physical GPUs, in the pod's order; of a bound pod with the
 *     GPUs that were chosen for each
 */
public record GpuPod(String uid, String namespace, String name, List<ContainerAsk> asks) {

    public GpuPod {
        asks = List.copyOf(asks);
    }
}
