package io.gpusharing.request.grammar;

import static io.gpusharing.request.Rule.OF_NODES_ONLY;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Part;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Violation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;

/**
 * {@code aliyun.com/gpu-mem}: device memory of one GPU, in the unit that the plugin was started
 * with (GiB or MiB; the share does not depend on it).
 *
 * <p>AliyunContainerService's gpushare has no compute part and isolates nothing, so the part of the
 * memory that a pod keeps from others stands for both. It takes all GPUs of a node to be alike and
 * gives the node's memory and number of GPUs in its capacity; on a node without them a request
 * counts as one whole GPU.
 */
public final class AliyunGrammar extends CountingGrammar {

    /** Device memory, in GiB or MiB. */
    public static final String MEMORY = "aliyun.com/gpu-mem";

    /** Number of GPUs of a node; pods cannot ask for it. */
    public static final String COUNT = "aliyun.com/gpu-count";

    private static final CountedResource UNITS =
            new CountedResource(
                    MEMORY, 100 * CountedResource.A_MILLION, "4 for 4 GiB, or 4096 for 4096 MiB");
    private static final CountedResource GPUS =
            new CountedResource(COUNT, CountedResource.A_MILLION, MEMORY);
    private static final List<CountedResource> RESOURCES = List.of(UNITS, GPUS);

    @Override
    public String name() {
        return "aliyun";
    }

    @Override
    public boolean reads(String resource) {
        return resource.equals(MEMORY) || resource.equals(COUNT);
    }

    /**
     * Besides requests that no node can hold: gpushare's open device plugin finds a pod by the sum
     * of its app containers, so it serves neither a second GPU container nor an init container.
     */
    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        long most = 0;
        for (NodeFacts node : nodes) {
            most = Math.max(most, unitsPerGpu(node).orElse(0));
        }
        var warnings = new ArrayList<String>();
        int served = 0;
        for (ContainerRequest container : pod.containers()) {
            long units = UNITS.units(container);
            if (most > 0 && units > most) {
                warnings.add(
                        "container \"%s\" asks for %d of GPU memory; the largest GPU has %d"
                                .formatted(container.name(), units, most));
            }
            boolean app = container.kind() == ContainerRequest.Kind.App;
            if (units > 0 && (!app || served > 0)) {
                warnings.add(
                        "container \"%s\": gpushare serves one app container of a pod"
                                .formatted(container.name()));
            }
            served += units > 0 && app ? 1 : 0;
        }
        return warnings;
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        return RESOURCES;
    }

    @Override
    void checkTogether(ContainerRequest container, List<Violation> violations) {
        if (GPUS.units(container) > 0) {
            violations.add(GPUS.violation(container, OF_NODES_ONLY, MEMORY));
        }
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        long units = UNITS.units(container);
        if (units == 0) {
            return BoundShare.NONE;
        }
        if (unitsPerGpu(node).isEmpty()) {
            return new BoundShare(GpuShare.whole(1), false);
        }
        long gpus = node.units(COUNT).orElse(0);
        // More than one GPU has is never placed; what runs holds at most one.
        Part part =
                new Part(Math.multiplyExact(units, gpus), node.units(MEMORY).orElse(0))
                        .min(Part.ONE);
        return BoundShare.exact(new GpuShare(part, part));
    }

    private static OptionalLong unitsPerGpu(NodeFacts node) {
        long gpus = node.units(COUNT).orElse(0);
        long units = node.units(MEMORY).orElse(0);
        return gpus > 0 && units >= gpus ? OptionalLong.of(units / gpus) : OptionalLong.empty();
    }
}
