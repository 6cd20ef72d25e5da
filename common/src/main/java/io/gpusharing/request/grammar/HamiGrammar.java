package io.gpusharing.request.grammar;

import static io.gpusharing.request.Rule.ONE_MEMORY_AMOUNT;
import static io.gpusharing.request.Rule.PART_NEEDS_GPU;
import static io.gpusharing.request.Rule.PERCENTAGE;

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
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * HAMi's {@code nvidia.com/gpu} (how many GPUs), and of each of them {@code nvidia.com/gpumem}
 * (MiB) or {@code nvidia.com/gpumem-percentage}, and {@code nvidia.com/gpucores} (percent).
 *
 * <p>As in Project-HAMi/HAMi with its default settings: no memory amount, or a percentage of 0 or
 * 100, is all of the memory; no count beside a part is as many GPUs as the site has configured in
 * HAMi ({@code defaultGPUNum}), one if nothing is said; all of the memory or all of the cores keeps
 * everybody else away, so it is a whole GPU. Cores that are not given are not limited; such a part
 * counts by its memory alone, in both parts. HAMi cuts more than 100 percent of the cores down to
 * 100 in silence and takes the amount where both memory resources are given; both are refused here,
 * because neither is what the user wrote.
 *
 * <p>How large a GPU is says HAMi's own annotation on the node, else the label of NVIDIA's
 * gpu-feature-discovery; without either, an amount of memory counts as all of it.
 */
public final class HamiGrammar extends CountingGrammar {

    /** Number of GPUs of which a part is taken. */
    public static final String COUNT = "nvidia.com/gpu";

    /** MiB of memory of each of them. */
    public static final String MEMORY = "nvidia.com/gpumem";

    /** Percent of the memory of each of them. */
    public static final String MEMORY_PERCENTAGE = "nvidia.com/gpumem-percentage";

    /** Percent of the processors of each of them. */
    public static final String CORES = "nvidia.com/gpucores";

    /**
     * The annotation by which HAMi's scheduler says which GPUs a pod has: for each container {@code
     * UUID,type,MiB,cores:} once a GPU, containers joined by {@code ;}.
     */
    public static final String ALLOCATED = "hami.io/vgpu-devices-allocated";

    private static final long PERCENT = GpuShare.WHOLE / 100;

    private static final CountedResource GPUS =
            new CountedResource(COUNT, CountedResource.A_MILLION, "1 for one GPU");
    private static final CountedResource MEBIBYTES =
            new CountedResource(MEMORY, 100 * CountedResource.A_MILLION, "4096 for 4096 MiB", 1);
    private static final CountedResource MEMORY_PERCENT =
            new CountedResource(MEMORY_PERCENTAGE, CountedResource.A_MILLION, "1..100");
    private static final CountedResource CORE_PERCENT =
            new CountedResource(CORES, CountedResource.A_MILLION, "1..100");
    private static final List<CountedResource> RESOURCES =
            List.of(GPUS, MEBIBYTES, MEMORY_PERCENT, CORE_PERCENT);

    private final long defaultGpus;

    /** With HAMi's own default. */
    public HamiGrammar() {
        this(1);
    }

    /**
     * @param defaultGpus HAMi's {@code defaultGPUNum}: how many GPUs its webhook writes beside a
     *     part without a count. It is asked after us, and what it adds then is nothing that we
     *     judged, so we write it. 0: it writes none
     */
    public HamiGrammar(long defaultGpus) {
        this.defaultGpus = defaultGpus;
    }

    @Override
    public String name() {
        return "hami";
    }

    @Override
    public PodRequest completed(PodRequest pod) {
        if (defaultGpus == 0 || pod.containers().stream().noneMatch(HamiGrammar::lacksCount)) {
            return pod;
        }
        return new PodRequest(
                pod.containers().stream()
                        .map(container ->
                                lacksCount(container)
                                        ? container.with(COUNT, Quantity.of(defaultGpus))
                                        : container)
                        .toList());
    }

    /** As HAMi sees it, which reads limits alone. */
    private static boolean lacksCount(ContainerRequest container) {
        return container.amount(COUNT).isEmpty()
                && Stream.of(MEMORY, MEMORY_PERCENTAGE, CORES)
                        .anyMatch(container.limits()::containsKey);
    }

    @Override
    public boolean reads(String resource) {
        return resource.startsWith("nvidia.com/gpu")
                && (resource.equals(COUNT)
                        || resource.equals(MEMORY)
                        || resource.equals(MEMORY_PERCENTAGE)
                        || resource.equals(CORES));
    }

    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        long mostGpus = 0;
        long mostMemory = 0;
        for (NodeFacts node : nodes) {
            HamiRegister register = HamiRegister.of(node);
            mostGpus = Math.max(mostGpus, register.gpus());
            mostMemory =
                    Math.max(
                            mostMemory,
                            Math.max(register.largest(), mebibytesPerGpu(node).orElse(0)));
        }
        var warnings = new ArrayList<String>();
        for (ContainerRequest container : pod.containers()) {
            long gpus = GPUS.units(container);
            if (mostGpus > 0 && gpus > mostGpus) {
                warnings.add(
                        "container \"%s\" asks for %d GPUs; the largest node has %d"
                                .formatted(container.name(), gpus, mostGpus));
            }
            long memory = MEBIBYTES.units(container);
            if (mostMemory > 0 && memory > mostMemory) {
                warnings.add(
                        "container \"%s\" asks for %d MiB of GPU memory; the largest GPU has %d"
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
        long memory = MEBIBYTES.units(container);
        long memoryPercent = MEMORY_PERCENT.units(container);
        long cores = CORE_PERCENT.units(container);
        if (memoryPercent > 100) {
            violations.add(MEMORY_PERCENT.violation(container, PERCENTAGE, "1..100"));
        }
        if (cores > 100) {
            violations.add(CORE_PERCENT.violation(container, PERCENTAGE, "1..100"));
        }
        if (memory > 0 && memoryPercent > 0) {
            violations.add(MEMORY_PERCENT.violation(container, ONE_MEMORY_AMOUNT, "one of them"));
        }
        boolean part = memory > 0 || memoryPercent > 0 || cores > 0;
        if (part && GPUS.units(container) == 0 && container.amount(COUNT).isPresent()) {
            violations.add(GPUS.violation(container, PART_NEEDS_GPU, "1 or more"));
        }
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        long memory = MEBIBYTES.units(container);
        long memoryPercent = MEMORY_PERCENT.units(container);
        long cores = CORE_PERCENT.units(container);
        boolean part = memory > 0 || memoryPercent > 0 || cores > 0;
        long gpus = Math.max(GPUS.units(container), part ? 1 : 0);
        if (gpus == 0) {
            return BoundShare.NONE;
        }
        boolean allOfIt = memory == 0 && (memoryPercent == 0 || memoryPercent == 100);
        if (allOfIt || cores == 100) {
            return BoundShare.exact(GpuShare.whole(gpus));
        }
        OptionalLong perGpu = mebibytesPerGpu(node);
        Part held = memory == 0 ? new Part(memoryPercent, 100) : part(memory, perGpu);
        Part computed = cores == 0 ? held : new Part(cores, 100);
        return new BoundShare(
                new GpuShare(computed.times(gpus), held.times(gpus)),
                memory == 0 || perGpu.isPresent());
    }

    @Override
    GpuShare least(ContainerRequest container) {
        BoundShare worth = worth(container, NodeFacts.UNKNOWN);
        if (worth.isExact()) {
            return worth.share();
        }
        long gpus = Math.max(1, GPUS.units(container));
        return new GpuShare(gpus * CORE_PERCENT.units(container) * PERCENT, 0);
    }

    private static Part part(long mebibytes, OptionalLong perGpu) {
        return perGpu.isEmpty() ? Part.ONE : new Part(mebibytes, perGpu.getAsLong()).min(Part.ONE);
    }

    private static OptionalLong mebibytesPerGpu(NodeFacts node) {
        OptionalLong registered = HamiRegister.of(node).mebibytesPerGpu();
        OptionalLong labelled = node.number("nvidia.com/gpu.memory");
        boolean known = registered.isPresent() || labelled.orElse(0) == 0;
        return known ? registered : labelled;
    }
}
