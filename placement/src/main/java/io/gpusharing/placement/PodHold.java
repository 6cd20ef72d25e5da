package io.gpusharing.placement;

import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pod holds of its node.
 *
 * @param requests sums, as kube-scheduler counts them
 * @param gpus what it holds of which physical GPU by the word of other providers, nothing if it has
 *     none; null if that is unknown
 * @param containers what its containers ask of GPUs that our device plugin hands out, each on those
 *     that were chosen for it if any were
 */
public record PodHold(
        Amounts requests, @Nullable List<GpuHold> gpus, List<ContainerAsk> containers) {

    public PodHold {
        gpus = gpus == null ? null : List.copyOf(gpus);
        containers = List.copyOf(containers);
    }
}
