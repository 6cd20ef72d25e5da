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
 * @param priority others of the same or a lower one are not pushed aside for it
 * @param leaving whether it is being deleted
 */
public record GpuPod(
        String uid,
        String namespace,
        String name,
        List<ContainerAsk> asks,
        List<String> containers,
        Dialect dialect,
        int priority,
        boolean leaving) {

    /** One for which nothing is written but our own placement. */
    public GpuPod(String uid, String namespace, String name, List<ContainerAsk> asks) {
        this(uid, namespace, name, asks, List.of(), Dialect.Metagpu, 0, false);
    }

    public GpuPod {
        asks = List.copyOf(asks);
        containers = List.copyOf(containers);
    }
}
