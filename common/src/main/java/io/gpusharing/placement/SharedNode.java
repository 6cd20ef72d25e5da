package io.gpusharing.placement;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A node that shares its GPUs, as its device plugin describes it. GPUs that are split by MIG are
 * left out.
 *
 * @param gpus those on which containers may start, as if nobody held any of them
 * @param unhealthy the others
 * @param granted what pods were given, by the pod's UID
 * @param indexes NVML's numbers of GPUs by UUID, where they are known
 * @param model of the first GPU by NVML; empty if it is not known
 * @param servesMps whether pods may share a GPU by MPS there
 * @param refused UIDs of pods to which the device plugin gives none, now or later
 */
public record SharedNode(
        String name,
        List<Gpu> gpus,
        List<Gpu> unhealthy,
        Map<String, List<GpuHold>> granted,
        Map<String, Integer> indexes,
        String model,
        boolean servesMps,
        Set<String> refused) {

    /** One without MPS, where every pod may be given GPUs, and of which no numbers are known. */
    public SharedNode(
            String name, List<Gpu> gpus, List<Gpu> unhealthy, Map<String, List<GpuHold>> granted) {
        this(name, gpus, unhealthy, granted, Map.of(), "", false, Set.of());
    }

    public SharedNode {
        gpus = servesMps ? List.copyOf(gpus) : gpus.stream().map(Gpu::withoutMps).toList();
        unhealthy = List.copyOf(unhealthy);
        granted = Map.copyOf(granted);
        indexes = Map.copyOf(indexes);
        refused = Set.copyOf(refused);
    }

    /** All GPUs, healthy or not, as if nobody held any. */
    public GpuLayout all() {
        return new GpuLayout(Stream.concat(gpus.stream(), unhealthy.stream()).toList());
    }

    /** What the node has while it is empty. */
    public FreeCapacity empty(Amounts allocatable) {
        return new FreeCapacity(allocatable, new GpuLayout(gpus), true);
    }

    /** Whether it is written of all of a pod's containers on which GPUs they are. */
    public static boolean isPlaced(List<ContainerAsk> asks) {
        return asks.stream().allMatch(ask -> ask.on().size() == ask.ask().count());
    }

    /**
     * What a pod that is bound here holds of the GPUs on which containers may start: what the
     * device plugin granted it, else what was written on it. A pod of which nobody says where it is
     * may be on any of them, or be given any: unless the device plugin has refused it for good.
     *
     * @param asks what its containers ask for, each on the GPUs that were chosen for it if any were
     */
    public List<GpuHold> held(String podUid, List<ContainerAsk> asks) {
        List<GpuHold> known = granted.get(podUid);
        if (known != null) {
            return known;
        }
        if (isPlaced(asks)) {
            return held(
                    asks, ask -> gpus.stream().filter(gpu -> ask.on().contains(gpu.id())).toList());
        }
        return refused.contains(podUid)
                ? List.of()
                : gpus.stream().flatMap(gpu -> held(asks, ask -> List.of(gpu)).stream()).toList();
    }

    private static List<GpuHold> held(
            List<ContainerAsk> asks, Function<ContainerAsk, List<Gpu>> where) {
        return PodPlacement.held(
                asks.stream()
                        .map(ask ->
                                new ContainerPlacement(
                                        ask.container(),
                                        ask.kind(),
                                        where.apply(ask).stream().map(ask.ask()::on).toList()))
                        .toList());
    }
}
