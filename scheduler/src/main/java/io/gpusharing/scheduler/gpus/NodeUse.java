package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.Leftover;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.wire.GpuHold;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How much of a node's GPUs is in use, by pods that are bound, about to be, or not quite gone.
 *
 * @param model of its first GPU; empty if it is not known
 * @param largestFree what is free of the GPU of which most is, from 0 to 1: of its processors or of
 *     its memory, whichever is less
 * @param idle GPUs of which nobody has anything
 * @param shared GPUs of which pods have parts
 * @param whole GPUs that a pod has to itself
 * @param unhealthy GPUs on which nothing may start
 */
public record NodeUse(
        String node,
        String model,
        double largestFree,
        int idle,
        int shared,
        int whole,
        int unhealthy) {

    /**
     * The use of a node that shares its GPUs.
     *
     * @param all its GPUs, healthy or not
     * @param free what is left of each GPU on which containers may start
     * @param holds what each pod holds
     */
    static NodeUse of(
            SharedNode node, GpuLayout all, GpuLayout free, Collection<List<GpuHold>> holds) {
        Set<String> held =
                holds.stream()
                        .flatMap(List::stream)
                        .filter(GpuHold::whole)
                        .map(GpuHold::gpu)
                        .collect(Collectors.toSet());
        int whole = (int) free.gpus().stream().filter(gpu -> held.contains(gpu.id())).count();
        return new NodeUse(
                node.name(),
                node.model(),
                Leftover.part(free.freest()),
                free.idle(),
                free.gpus().size() - free.idle() - whole,
                whole,
                all.gpus().size() - free.gpus().size());
    }
}
