package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.PlacementAnnotation;
import io.gpusharing.placement.PodPlacement;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The GPUs of one node on which a pod is to run. */
public record Placement(String node, List<ContainerPlacement> containers) {

    public Placement {
        containers = List.copyOf(containers);
    }

    /** What the pod holds of each GPU. */
    public List<GpuHold> held() {
        return PodPlacement.held(containers);
    }

    /** As it is written on the pod. */
    public PlacementAnnotation annotation(String podUid) {
        var gpus = new LinkedHashMap<String, Set<String>>();
        for (ContainerPlacement container : containers) {
            gpus.put(
                    container.container(),
                    container.gpus().stream()
                            .map(GpuHold::gpu)
                            .collect(Collectors.toCollection(LinkedHashSet::new)));
        }
        return new PlacementAnnotation(podUid, gpus);
    }
}
