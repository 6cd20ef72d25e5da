package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import java.util.List;

/**
 * A pod that asks for GPUs of ours.
 *
 * @param asks what its containers ask of physical GPUs, in the pod's order; of a bound pod with the
 *     GPUs that were chosen for each
 * @param containers names of its app containers, in its order
 * @param dialect by which resources it asks
 */
public record GpuPod(
        String uid,
        String namespace,
        String name,
        List<ContainerAsk> asks,
        List<String> containers,
        Dialect dialect) {

    /** One for which nothing is written but our own placement. */
    public GpuPod(String uid, String namespace, String name, List<ContainerAsk> asks) {
        this(uid, namespace, name, asks, List.of(), Dialect.Metagpu);
    }

    public GpuPod {
        asks = List.copyOf(asks);
        containers = List.copyOf(containers);
    }
}
