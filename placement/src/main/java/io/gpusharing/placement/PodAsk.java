package io.gpusharing.placement;

import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import java.util.List;

/**
 * What a pod needs of the node that it is to run on.
 *
 * @param requests sums, as kube-scheduler counts them
 * @param gpus what its containers ask of physical GPUs that other providers hand out, in the order
 *     in which they are placed
 * @param containers what they ask of those that our device plugin hands out
 */
public record PodAsk(Amounts requests, List<GpuAsk> gpus, List<ContainerAsk> containers) {

    public PodAsk {
        gpus = List.copyOf(gpus);
        containers = List.copyOf(containers);
    }
}
