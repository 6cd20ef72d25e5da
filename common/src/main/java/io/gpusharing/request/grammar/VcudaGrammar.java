package io.gpusharing.request.grammar;

import static io.gpusharing.request.Rule.FRACTION_NEEDS_MEMORY;
import static io.gpusharing.request.Rule.FRACTION_OR_WHOLE;
import static io.gpusharing.request.Rule.MEMORY_NEEDS_CORE;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Part;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Violation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code tencent.com/vcuda-core} and {@code tencent.com/vcuda-memory}: 100 core units are one GPU,
 * one memory unit is 256 MiB.
 *
 * <p>Legal are 1..99 core units with memory, or whole GPUs (a multiple of 100) with or without it.
 * The table is the one of tkestack's gpu-manager, which refuses the rest only after scheduling, or
 * not at all: memory of whole GPUs is ignored there, a fraction without memory is not seen as a GPU
 * pod and hangs.
 *
 * <p>On a node that does not name the size of its GPUs the memory part of a fraction is 0.
 */
public final class VcudaGrammar extends CountingGrammar {

    /** Hundredths of a GPU. */
    public static final String CORE = "tencent.com/vcuda-core";

    /** Blocks of 256 MiB of device memory. */
    public static final String MEMORY = "tencent.com/vcuda-memory";

    /** Device memory of one {@value #MEMORY}. */
    public static final long MEBIBYTES_PER_BLOCK = 256;

    /** Ceiling of gpu-manager's soft compute limit, for the whole pod; 1..100. */
    public static final String CORE_LIMIT_ANNOTATION = "tencent.com/vcuda-core-limit";

    private static final String PERCENT = "[1-9][0-9]?|100";

    private static final long CORES_PER_GPU = 100;

    private static final CountedResource CORES =
            new CountedResource(
                    CORE,
                    CORES_PER_GPU * CountedResource.A_MILLION,
                    "50 for half a GPU, or 100 for a whole one");
    private static final CountedResource BLOCKS =
            new CountedResource(
                    MEMORY,
                    CORES_PER_GPU * CountedResource.A_MILLION,
                    "15 for 15 × 256 MiB",
                    MEBIBYTES_PER_BLOCK);
    private static final List<CountedResource> RESOURCES = List.of(CORES, BLOCKS);

    private final long defaultMemoryPerGpu;

    /** Without memory for fractions that name none. */
    public VcudaGrammar() {
        this(0);
    }

    /**
     * @param defaultMemoryPerGpu blocks of 256 MiB; a fraction that names no memory gets its part
     *     of them, and 0 leaves it illegal
     */
    public VcudaGrammar(long defaultMemoryPerGpu) {
        this.defaultMemoryPerGpu = defaultMemoryPerGpu;
    }

    @Override
    public PodRequest completed(PodRequest pod) {
        if (defaultMemoryPerGpu == 0 || pod.containers().stream().noneMatch(this::lacksMemory)) {
            return pod;
        }
        return new PodRequest(
                pod.containers().stream()
                        .map(container ->
                                lacksMemory(container) ? withMemory(container) : container)
                        .toList());
    }

    private boolean lacksMemory(ContainerRequest container) {
        return isFraction(container)
                && container.limits().containsKey(CORE)
                && container.amount(MEMORY).isEmpty();
    }

    private ContainerRequest withMemory(ContainerRequest container) {
        // Rounded up: a fraction that is admitted has at least one block.
        long blocks = Math.ceilDiv(CORES.units(container) * defaultMemoryPerGpu, CORES_PER_GPU);
        return container.with(MEMORY, Quantity.of(blocks));
    }

    @Override
    public String name() {
        return "vcuda";
    }

    @Override
    public boolean reads(String resource) {
        return resource.equals(CORE) || resource.equals(MEMORY);
    }

    @Override
    public Map<String, String> annotations(PodRequest pod) {
        long common = 0;
        for (ContainerRequest container : pod.containers()) {
            long core = CORES.units(container);
            if (core > 0 && common > 0 && core != common) {
                // Different fractions have no common ceiling.
                return Map.of();
            }
            common = Math.max(common, core);
        }
        // Whole GPUs need no ceiling.
        return common > 0 && common < CORES_PER_GPU
                ? Map.of(CORE_LIMIT_ANNOTATION, Long.toString(common))
                : Map.of();
    }

    @Override
    public List<String> warnings(Map<String, String> annotations) {
        String limit = annotations.get(CORE_LIMIT_ANNOTATION);
        return limit == null || limit.matches(PERCENT)
                ? List.of()
                : List.of(
                        "annotation %s is %s: it is a whole number from 1 to 100"
                                .formatted(CORE_LIMIT_ANNOTATION, limit));
    }

    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        long mostGpus = 0;
        long mostMemory = 0;
        for (NodeFacts node : nodes) {
            mostGpus = Math.max(mostGpus, gpus(node));
            mostMemory = Math.max(mostMemory, blocksPerGpu(node));
        }
        var warnings = new ArrayList<String>();
        for (ContainerRequest container : pod.containers()) {
            long gpus = CORES.units(container) / CORES_PER_GPU;
            if (mostGpus > 0 && gpus > mostGpus) {
                warnings.add(
                        "container \"%s\" asks for %d GPUs; the largest node has %d"
                                .formatted(container.name(), gpus, mostGpus));
            }
            long memory = BLOCKS.units(container);
            if (mostMemory > 0 && isFraction(container) && memory > mostMemory) {
                warnings.add(
                        "container \"%s\" asks for %d blocks of GPU memory; the largest GPU has %d"
                                .formatted(container.name(), memory, mostMemory));
            }
        }
        return warnings;
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        return RESOURCES;
    }

    @Override
    void checkTogether(ContainerRequest container, List<Violation> violations) {
        long core = CORES.units(container);
        long memory = BLOCKS.units(container);
        if (core > CORES_PER_GPU && core % CORES_PER_GPU != 0) {
            long below = core / CORES_PER_GPU * CORES_PER_GPU;
            String fraction = below == CORES_PER_GPU ? "1..99, " : "";
            violations.add(
                    CORES.violation(
                            container,
                            FRACTION_OR_WHOLE,
                            "%s%d or %d".formatted(fraction, below, below + CORES_PER_GPU)));
        } else if (isFraction(container) && memory == 0) {
            violations.add(
                    BLOCKS.violation(container, FRACTION_NEEDS_MEMORY, "1 or more (1 = 256 MiB)"));
        } else if (core == 0 && memory > 0) {
            violations.add(CORES.violation(container, MEMORY_NEEDS_CORE, "1..99, or 100"));
        }
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        long core = CORES.units(container);
        if (core == 0) {
            return BoundShare.NONE;
        }
        if (core >= CORES_PER_GPU) {
            return BoundShare.exact(GpuShare.whole(core / CORES_PER_GPU));
        }
        Optional<Part> memory = memoryPart(BLOCKS.units(container), node);
        return new BoundShare(
                new GpuShare(new Part(core, CORES_PER_GPU), memory.orElse(Part.NONE)),
                memory.isPresent());
    }

    @Override
    GpuShare least(ContainerRequest container) {
        return worth(container, NodeFacts.UNKNOWN).share();
    }

    /**
     * The part of one GPU's memory that some blocks are; empty if the node does not say. As
     * gpu-manager does it, all GPUs of a node are taken to be alike.
     *
     * @throws ArithmeticException if there are more blocks than any node has
     */
    public static Optional<Part> memoryPart(long blocks, NodeFacts node) {
        long gpus = gpus(node);
        long memory = node.units(MEMORY).orElse(0);
        return gpus > 0 && memory >= gpus
                ? Optional.of(new Part(Math.multiplyExact(blocks, gpus), memory))
                : Optional.empty();
    }

    private static long blocksPerGpu(NodeFacts node) {
        long gpus = gpus(node);
        return gpus == 0 ? 0 : node.units(MEMORY).orElse(0) / gpus;
    }

    private static long gpus(NodeFacts node) {
        return node.units(CORE).orElse(0) / CORES_PER_GPU;
    }

    private static boolean isFraction(ContainerRequest container) {
        long core = CORES.units(container);
        return core > 0 && core < CORES_PER_GPU;
    }
}
