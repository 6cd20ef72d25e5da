package io.gpusharing.placement;

import java.util.List;

/**
 * What a pod needs of the node that it is to run on.
 *
 * @param requests sums, as kube-scheduler counts them
 * @param gpus what its containers ask of physical GPUs, in the order in which they are placed
 */
public record PodAsk(Amounts requests, List<GpuAsk> gpus) {

    public PodAsk {
        gpus = List.copyOf(gpus);
    }
}
