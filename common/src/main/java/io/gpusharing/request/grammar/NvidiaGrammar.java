package io.gpusharing.request.grammar;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFact;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The resources of NVIDIA's device plugin: {@code nvidia.com/gpu}, {@code nvidia.com/gpu.shared}
 * and {@code nvidia.com/mig-<profile>} with or without {@code .shared}.
 *
 * <p>What a unit is depends on the node: a whole GPU; one of the replicas into which time-slicing
 * or MPS divides it; a MIG instance where the node's MIG strategy is {@code single}. NVIDIA's
 * gpu-feature-discovery writes it as labels ({@code .product}, {@code .replicas}, {@code .memory});
 * without them a unit counts as undivided. A MIG instance is worth its compute slices and its
 * memory slices, a replica its equal part of either; replicas take turns, so more of them hold more
 * but need not run faster. On a node of HAMi's, {@code nvidia.com/gpu} alone is a whole GPU.
 */
public final class NvidiaGrammar extends CountingGrammar {

    /** Whole GPUs, replicas of them, or MIG instances of one kind. */
    public static final String GPU = "nvidia.com/gpu";

    /** Replicas of GPUs, where the plugin renames them. */
    public static final String SHARED_GPU = "nvidia.com/gpu.shared";

    /** What the name of a MIG resource begins with; its profile follows. */
    public static final String MIG_PREFIX = "nvidia.com/mig-";

    private static final String SHARED = ".shared";
    private static final CountedResource GPUS =
            new CountedResource(GPU, CountedResource.A_MILLION, "1 for one GPU");
    private static final CountedResource REPLICAS =
            new CountedResource(
                    SHARED_GPU, CountedResource.A_MILLION, "1 for one replica of a GPU");

    @Override
    public String name() {
        return "nvidia";
    }

    @Override
    public boolean reads(String resource) {
        return resource.startsWith("nvidia.com/")
                && (resource.equals(GPU)
                        || resource.equals(SHARED_GPU)
                        || resource.startsWith(MIG_PREFIX));
    }

    @Override
    public List<String> warnings(PodRequest pod, Collection<NodeFacts> nodes) {
        var warnings = new ArrayList<>(super.warnings(pod, nodes));
        for (ContainerRequest container : pod.containers()) {
            if (REPLICAS.units(container) > 1) {
                warnings.add(
                        "container \"%s\": two replicas of a GPU are not faster than one"
                                .formatted(container.name()));
            }
        }
        return warnings;
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        var names = new ArrayList<String>(1);
        for (String name : container.limits().keySet()) {
            if (reads(name)) {
                names.add(name);
            }
        }
        for (String name : container.requests().keySet()) {
            if (reads(name) && !names.contains(name)) {
                names.add(name);
            }
        }
        Collections.sort(names);
        var resources = new ArrayList<CountedResource>(names.size());
        for (String name : names) {
            resources.add(counted(name));
        }
        return resources;
    }

    @Override
    boolean isPart(ContainerRequest container) {
        for (CountedResource resource : resourcesOf(container)) {
            if (resource.name().endsWith(SHARED) && resource.units(container) > 0) {
                return true;
            }
        }
        return super.isPart(container);
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        BoundShare worth = BoundShare.NONE;
        for (CountedResource resource : resourcesOf(container)) {
            long units = resource.units(container);
            if (units > 0) {
                worth = worth.plus(worth(resource.name(), units, node));
            }
        }
        return worth;
    }

    private static BoundShare worth(String resource, long units, NodeFacts node) {
        if (resource.equals(GPU) && node.annotations().containsKey(NodeFacts.HAMI_REGISTER)) {
            // HAMi counts every part of a GPU that it may hand out, but gives whole ones for it.
            return BoundShare.exact(GpuShare.whole(units));
        }
        boolean renamed = resource.endsWith(SHARED);
        String base =
                renamed ? resource.substring(0, resource.length() - SHARED.length()) : resource;
        String product = node.labels().getOrDefault(base + ".product", "");
        MigProfile profile = profile(base, product, node);
        OptionalLong replicas = replicas(base, renamed, product, node);
        Set<NodeFact> missing = profile.missing();
        if (replicas.isEmpty()) {
            missing = BoundShare.union(missing, EnumSet.of(NodeFact.REPLICAS_PER_GPU));
        }
        return new BoundShare(profile.slice().share(units, replicas.orElse(1)), missing);
    }

    /** Which part of a GPU the resource is before it is shared. */
    private static MigProfile profile(String base, String product, NodeFacts node) {
        if (base.startsWith(MIG_PREFIX)) {
            String gpu = node.labels().getOrDefault(GPU + ".product", "");
            return MigProfile.of(
                    base.substring(MIG_PREFIX.length()),
                    product.isEmpty() ? gpu : product,
                    node.number(GPU + ".memory").orElse(0));
        }
        int mig = product.indexOf("-MIG-");
        if (mig < 0) {
            // Only MIG instances have slices; their product's name was too long for a label.
            boolean instance = node.labels().containsKey(base + ".slices.gi");
            return instance ? MigProfile.UNKNOWN : MigProfile.WHOLE_GPU;
        }
        String profile = product.substring(mig + "-MIG-".length()).replace("-SHARED", "");
        // Strategy single: the memory label is the instance's own here, not the GPU's.
        return MigProfile.of(profile, product.substring(0, mig), 0);
    }

    /**
     * Among how many one unit's device is divided; empty if the node does not say. Where the plugin
     * renames the replicas, the old name is a whole device. A product's name may be too long for a
     * label together with its suffix, so a missing -SHARED proves nothing.
     */
    private static OptionalLong replicas(
            String base, boolean renamed, String product, NodeFacts node) {
        if (!renamed && node.capacity().containsKey(base + SHARED)) {
            return OptionalLong.of(1);
        }
        OptionalLong replicas = node.number(base + ".replicas");
        boolean shared = renamed || product.endsWith("-SHARED");
        if (replicas.isEmpty() || (shared && replicas.getAsLong() < 2)) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(Math.max(1, replicas.getAsLong()));
    }

    private static CountedResource counted(String name) {
        return switch (name) {
            case GPU -> GPUS;
            case SHARED_GPU -> REPLICAS;
            default ->
                    new CountedResource(name, CountedResource.A_MILLION, "1 for one MIG instance");
        };
    }
}
