package io.gpusharing.timekeeper.allocation;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.wire.PlacementAnnotation;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The GPUs on which a scheduler of ours has placed a pod, or HAMi's: what its parts are parts of,
 * and which model they are of. None where nobody did, or who describes the node's GPUs does not
 * name all of them; then its node speaks for them, of which all GPUs are taken to be alike.
 *
 * @param byContainer those of each container, of ours whole ones first
 * @param byHami whether HAMi says so
 */
public record PlacedGpus(Map<String, List<PhysicalGpu>> byContainer, boolean byHami) {

    /** Nobody says where it is. */
    public static final PlacedGpus NONE = new PlacedGpus(Map.of(), false);

    /** UUIDs that a pod's placement names; none if it has no placement of its own. */
    public static Set<String> named(PodFacts pod) {
        return placement(pod).values().stream().flatMap(Set::stream).collect(toSet());
    }

    /**
     * Where a pod is.
     *
     * @param gpus those of its node, by UUID, as our device plugin describes them
     * @param node as HAMi's describes it
     */
    public static PlacedGpus of(PodFacts pod, Map<String, PhysicalGpu> gpus, NodeFacts node) {
        Map<String, Set<String>> placement = placement(pod);
        if (placement.isEmpty()) {
            return new PlacedGpus(HamiGpus.of(pod, node), true);
        }
        return placement.values().stream().allMatch(gpus.keySet()::containsAll)
                ? new PlacedGpus(
                        placement.entrySet().stream()
                                .collect(
                                        toMap(
                                                Map.Entry::getKey,
                                                it ->
                                                        it.getValue().stream()
                                                                .map(uuid ->
                                                                        Objects.requireNonNull(
                                                                                gpus.get(uuid)))
                                                                .toList())),
                        false)
                : NONE;
    }

    /** Whether a pod was placed by ours, and of each of its GPUs it is known how large it is. */
    public boolean areKnown() {
        return !byHami
                && !byContainer.isEmpty()
                && byContainer.values().stream()
                        .flatMap(List::stream)
                        .allMatch(it -> it.memoryMiB() > 0);
    }

    private static Map<String, Set<String>> placement(PodFacts pod) {
        return Optional.ofNullable(pod.annotations().get(PlacementAnnotation.KEY))
                .flatMap(PlacementAnnotation::parse)
                .filter(it -> it.podUid().equals(pod.uid().toString()))
                .map(PlacementAnnotation::gpus)
                .orElse(Map.of());
    }

    /**
     * What is known of the devices that a container got: by ours a part is one of the last of them,
     * by HAMi one of each.
     */
    public NodeFacts of(ContainerRequest container, NodeFacts node) {
        List<PhysicalGpu> gpus = byContainer.getOrDefault(container.name(), List.of());
        if (gpus.isEmpty()) {
            return node;
        }
        return byHami ? HamiGpus.only(gpus, node) : gpus.getLast().as(node);
    }

    /**
     * What they cost a pod that is bound at an instant. Of several models the weight is the mean,
     * by how much of each it holds, and the model is that of which it holds most.
     */
    public Weight weight(
            Weights weights,
            Instant bound,
            PodRequest request,
            NodeFacts node,
            RequestGrammars grammars) {
        List<PhysicalGpu> all = byContainer.values().stream().flatMap(List::stream).toList();
        if (all.isEmpty()) {
            return weights.at(bound, node);
        }
        // With what HAMi registers no amount of a budget is compared.
        long memoryMiB = byHami ? 0 : memory(all);
        if (all.stream().anyMatch(it -> it.model() == null)) {
            return weights.at(bound, node).of(memoryMiB);
        }
        if (all.stream().map(PhysicalGpu::model).distinct().count() == 1) {
            return weights.at(bound, all.getFirst().model()).of(memoryMiB);
        }
        Map<Weight, Long> parts = parts(weights, bound, request, node, grammars);
        BigInteger sum = BigInteger.ZERO;
        long held = 0;
        Weight most = weights.at(bound, all.getFirst().model());
        for (Map.Entry<Weight, Long> part : parts.entrySet()) {
            Weight weight = part.getKey();
            sum =
                    sum.add(
                            BigInteger.valueOf(part.getValue())
                                    .multiply(BigInteger.valueOf(weight.millionths())));
            held += part.getValue();
            most = part.getValue() > parts.getOrDefault(most, 0L) ? weight : most;
        }
        return held == 0
                ? most.of(memoryMiB)
                : new Weight(
                        most.model(),
                        sum.divide(BigInteger.valueOf(held)).longValueExact(),
                        parts.keySet().stream().allMatch(Weight::known),
                        memoryMiB);
    }

    /** The mean of them; 0 if that is not known. */
    private static long memory(List<PhysicalGpu> gpus) {
        return gpus.stream().anyMatch(it -> it.memoryMiB() == 0)
                ? 0
                : gpus.stream().mapToLong(PhysicalGpu::memoryMiB).sum() / gpus.size();
    }

    /** Micro-GPUs by what they cost, of the containers that run together. */
    private Map<Weight, Long> parts(
            Weights weights,
            Instant bound,
            PodRequest request,
            NodeFacts node,
            RequestGrammars grammars) {
        var parts = new LinkedHashMap<Weight, Long>();
        var containers = new ArrayList<>(request.containers());
        if (containers.stream().anyMatch(it -> it.kind() != Kind.Init && holds(it))) {
            containers.removeIf(it -> it.kind() == Kind.Init);
        }
        for (ContainerRequest container : containers) {
            List<PhysicalGpu> gpus = byContainer.getOrDefault(container.name(), List.of());
            PodRequest alone = new PodRequest(List.of(container));
            long left =
                    PodFacts.asked(alone, of(container, node), grammars)
                            .map(it -> Math.max(it.share().compute(), it.share().memory()))
                            .orElse(0L);
            for (PhysicalGpu gpu : gpus) {
                long part = byHami ? left / gpus.size() : Math.min(left, GpuShare.WHOLE);
                parts.merge(weights.at(bound, gpu.model()), part, Long::sum);
                left -= byHami ? 0 : part;
            }
        }
        return parts;
    }

    private boolean holds(ContainerRequest container) {
        return byContainer.containsKey(container.name());
    }
}
