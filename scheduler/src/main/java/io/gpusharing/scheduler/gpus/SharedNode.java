package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.GpuLayout;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A node that shares its GPUs, as its device plugin describes it. GPUs that are split by MIG are
 * left out.
 *
 * @param gpus those on which containers may start, as if nobody held any of them
 * @param unhealthy the others
 * @param granted what pods were given, by the pod's UID
 */
public record SharedNode(
        String name, List<Gpu> gpus, List<Gpu> unhealthy, Map<String, List<GpuHold>> granted) {

    public SharedNode {
        gpus = List.copyOf(gpus);
        unhealthy = List.copyOf(unhealthy);
        granted = Map.copyOf(granted);
    }

    GpuLayout all() {
        return new GpuLayout(Stream.concat(gpus.stream(), unhealthy.stream()).toList());
    }
}
