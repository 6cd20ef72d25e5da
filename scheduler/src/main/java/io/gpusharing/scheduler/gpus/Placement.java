package io.gpusharing.scheduler.gpus;

import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs of one node on which a pod is to run.
 *
 * @param besides annotations that programs of another provider read; see {@link Dialect}
 */
public record Placement(
        String node, List<ContainerPlacement> containers, Map<String, String> besides) {

    public Placement {
        containers = List.copyOf(containers);
        besides = Map.copyOf(besides);
    }

    /** One that is only thought of. */
    public Placement(String node, List<ContainerPlacement> containers) {
        this(node, containers, Map.of());
    }

    /** What the pod holds of each GPU. */
    public List<GpuHold> held() {
        return ContainerPlacement.held(containers);
    }

    /** What is written on the pod with its binding. */
    public Map<String, String> annotations(String podUid) {
        var annotations = new HashMap<>(besides);
        annotations.put(PlacementAnnotation.KEY, annotation(podUid).text());
        return annotations;
    }

    /** Where its containers run. */
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
