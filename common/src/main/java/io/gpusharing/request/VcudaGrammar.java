package io.gpusharing.request;

import static io.gpusharing.request.Rule.FRACTION_NEEDS_MEMORY;
import static io.gpusharing.request.Rule.FRACTION_OR_WHOLE;
import static io.gpusharing.request.Rule.LIMIT_NEEDED;
import static io.gpusharing.request.Rule.MEMORY_NEEDS_CORE;
import static io.gpusharing.request.Rule.NOT_NEGATIVE;
import static io.gpusharing.request.Rule.REQUEST_EQUALS_LIMIT;
import static io.gpusharing.request.Rule.TOO_LARGE;
import static io.gpusharing.request.Rule.WHOLE_NUMBER;

import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * {@code tencent.com/vcuda-core} and {@code tencent.com/vcuda-memory}: 100 core units are one GPU,
 * one memory unit is 256 MiB.
 *
 * <p>Legal are 1..99 core units with memory, or whole GPUs (a multiple of 100) with or without it.
 * The table is the one of tkestack's gpu-manager, which refuses the rest only after scheduling, or
 * not at all: memory of whole GPUs is ignored there, a fraction without memory is not seen as a GPU
 * pod and hangs.
 */
public final class VcudaGrammar implements RequestGrammar {

    /** Hundredths of a GPU. */
    public static final String CORE = "tencent.com/vcuda-core";

    /** Blocks of 256 MiB of device memory. */
    public static final String MEMORY = "tencent.com/vcuda-memory";

    /** Ceiling of gpu-manager's soft compute limit, for the whole pod; 1..100. */
    public static final String CORE_LIMIT_ANNOTATION = "tencent.com/vcuda-core-limit";

    private static final long CORES_PER_GPU = 100;
    private static final long MICROS_PER_CORE = GpuShare.WHOLE / CORES_PER_GPU;

    /** A million GPUs; keeps every sum of micro-GPUs far from the end of a long. */
    private static final long MAX_UNITS = 100_000_000;

    @Override
    public String name() {
        return "vcuda";
    }

    @Override
    public boolean reads(String resource) {
        return resource.equals(CORE) || resource.equals(MEMORY);
    }

    @Override
    public Verdict judge(PodRequest pod) {
        if (!pod.asksFor(this::reads)) {
            return new NotOurs();
        }
        var violations = new ArrayList<Violation>();
        pod.containers().forEach(container -> check(container, violations));
        if (!violations.isEmpty()) {
            return new Illegal(violations);
        }
        GpuShare least = shareOn(pod, NodeFacts.UNKNOWN).share();
        return pod.containers().stream().anyMatch(VcudaGrammar::isFraction)
                ? new LegalUntilBound(
                        least, "the memory part depends on the size of the node's GPUs")
                : new Legal(least);
    }

    @Override
    public BoundShare shareOn(PodRequest pod, NodeFacts node) {
        OptionalLong perGpu = memoryUnitsPerGpu(node);
        boolean fraction = pod.containers().stream().anyMatch(VcudaGrammar::isFraction);
        return new BoundShare(
                pod.effective(container -> share(container, perGpu)),
                !fraction || perGpu.isPresent());
    }

    @Override
    public Map<String, String> annotations(PodRequest pod) {
        List<Long> cores =
                pod.containers().stream()
                        .map(container -> units(container, CORE))
                        .filter(core -> core > 0)
                        .distinct()
                        .toList();
        // Different fractions have no common ceiling, and whole GPUs need none.
        return cores.size() == 1 && cores.getFirst() < CORES_PER_GPU
                ? Map.of(CORE_LIMIT_ANNOTATION, Long.toString(cores.getFirst()))
                : Map.of();
    }

    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        long mostGpus =
                nodes.stream()
                        .mapToLong(node -> node.units(CORE).orElse(0) / CORES_PER_GPU)
                        .max()
                        .orElse(0);
        long mostMemory =
                nodes.stream().mapToLong(node -> memoryUnitsPerGpu(node).orElse(0)).max().orElse(0);
        var warnings = new ArrayList<String>();
        for (ContainerRequest container : pod.containers()) {
            long gpus = units(container, CORE) / CORES_PER_GPU;
            if (mostGpus > 0 && gpus > mostGpus) {
                warnings.add(
                        "container \"%s\" asks for %d GPUs; the largest node has %d"
                                .formatted(container.name(), gpus, mostGpus));
            }
            long memory = units(container, MEMORY);
            if (mostMemory > 0 && isFraction(container) && memory > mostMemory) {
                warnings.add(
                        "container \"%s\" asks for %d blocks of GPU memory; the largest GPU has %d"
                                .formatted(container.name(), memory, mostMemory));
            }
        }
        return warnings;
    }

    private static GpuShare share(ContainerRequest container, OptionalLong memoryPerGpu) {
        long core = units(container, CORE);
        if (core >= CORES_PER_GPU) {
            return GpuShare.whole(core / CORES_PER_GPU);
        }
        long memory =
                memoryPerGpu.isPresent()
                        ? units(container, MEMORY) * GpuShare.WHOLE / memoryPerGpu.getAsLong()
                        : 0;
        return new GpuShare(core * MICROS_PER_CORE, memory);
    }

    /** gpu-manager takes all GPUs of a node to be alike: memory of the node by number of GPUs. */
    private static OptionalLong memoryUnitsPerGpu(NodeFacts node) {
        long gpus = node.units(CORE).orElse(0) / CORES_PER_GPU;
        long memory = node.units(MEMORY).orElse(0);
        return gpus > 0 && memory >= gpus ? OptionalLong.of(memory / gpus) : OptionalLong.empty();
    }

    private static boolean isFraction(ContainerRequest container) {
        long core = units(container, CORE);
        return core > 0 && core < CORES_PER_GPU;
    }

    /** Units of a resource; 0 where it is absent or not a legal number. */
    private static long units(ContainerRequest container, String resource) {
        return container.amount(resource).map(Quantity::wholeNumber).stream()
                .flatMapToLong(OptionalLong::stream)
                .filter(units -> units > 0 && units <= MAX_UNITS)
                .findFirst()
                .orElse(0);
    }

    private static void check(ContainerRequest container, List<Violation> violations) {
        int before = violations.size();
        checkAmount(container, CORE, "50 for half a GPU, or 100 for a whole one", violations);
        checkAmount(container, MEMORY, "15 for 15 × 256 MiB", violations);
        if (violations.size() > before) {
            return;
        }
        long core = units(container, CORE);
        long memory = units(container, MEMORY);
        if (core > CORES_PER_GPU && core % CORES_PER_GPU != 0) {
            long rounded = (core / CORES_PER_GPU + 1) * CORES_PER_GPU;
            violations.add(
                    violation(container, CORE, FRACTION_OR_WHOLE, "1..99, 100 or " + rounded));
        } else if (isFraction(container) && memory == 0) {
            violations.add(
                    violation(container, MEMORY, FRACTION_NEEDS_MEMORY, "1 or more (1 = 256 MiB)"));
        } else if (core == 0 && memory > 0) {
            violations.add(violation(container, CORE, MEMORY_NEEDS_CORE, "1..99, or 100"));
        }
    }

    private static void checkAmount(
            ContainerRequest container, String resource, String legal, List<Violation> violations) {
        Optional<Quantity> amount = container.amount(resource);
        if (amount.isEmpty()) {
            return;
        }
        Quantity limit = container.limits().get(resource);
        Quantity request = container.requests().get(resource);
        OptionalLong units = amount.get().wholeNumber();
        if (limit == null && !amount.get().isZero()) {
            violations.add(
                    new Violation(
                            container.name(),
                            "resources.limits",
                            resource,
                            "not set",
                            LIMIT_NEEDED,
                            amount.get().text()));
        } else if (amount.get().value().signum() < 0) {
            violations.add(violation(container, resource, NOT_NEGATIVE, legal));
        } else if (units.isEmpty() && amount.get().value().stripTrailingZeros().scale() > 0) {
            violations.add(violation(container, resource, WHOLE_NUMBER, legal));
        } else if (units.isEmpty() || units.getAsLong() > MAX_UNITS) {
            violations.add(violation(container, resource, TOO_LARGE, legal));
        } else if (limit != null && request != null && !limit.equals(request)) {
            violations.add(
                    new Violation(
                            container.name(),
                            "resources.requests",
                            resource,
                            request.text(),
                            REQUEST_EQUALS_LIMIT,
                            limit.text()));
        }
    }

    private static Violation violation(
            ContainerRequest container, String resource, Rule rule, String legal) {
        String found = container.amount(resource).map(Quantity::text).orElse("not set");
        String field =
                container.requests().containsKey(resource)
                                && !container.limits().containsKey(resource)
                        ? "resources.requests"
                        : "resources.limits";
        return new Violation(container.name(), field, resource, found, rule, legal);
    }
}
