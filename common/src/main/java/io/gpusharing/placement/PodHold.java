package io.gpusharing.placement;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pod holds of its node.
 *
 * @param requests sums, as kube-scheduler counts them
 * @param gpus what it holds of which physical GPU, nothing if it has none; null if that is unknown
 */
public record PodHold(Amounts requests, @Nullable List<GpuHold> gpus) {

    public PodHold {
        gpus = gpus == null ? null : List.copyOf(gpus);
    }
}
