package io.gpusharing.request.grammar;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Part;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * {@code cnvrg.io/metagpu}: a number of equal shares; more than one GPU has is several GPUs, so
 * that 150 of 100 is one and a half. A site may have several such resources.
 *
 * <p>cnvrg's MetaGPU cuts every GPU into 100 shares unless its {@code autoReshare} is off. A share
 * stands for as much of the processors as of the memory. The worth is known before binding.
 */
public final class MetagpuGrammar extends CountingGrammar {

    /** Shares of GPUs. */
    public static final String SHARES = "cnvrg.io/metagpu";

    /** As MetaGPU itself has it. */
    private static final Map<String, Integer> USUAL = Map.of(SHARES, 100);

    private final SortedMap<String, Integer> unitsPerGpu;
    private final List<CountedResource> resources;

    public MetagpuGrammar() {
        this(USUAL);
    }

    /**
     * @param unitsPerGpu how many units of each resource one GPU is cut into, at least 1; see
     *     {@link #units}
     * @throws IllegalArgumentException if that is less than 1
     */
    public MetagpuGrammar(Map<String, Integer> unitsPerGpu) {
        this.unitsPerGpu = units(unitsPerGpu);
        this.resources =
                this.unitsPerGpu.entrySet().stream()
                        .map(entry -> resource(entry.getKey(), entry.getValue()))
                        .toList();
    }

    /** What a site says, with 100 of {@value #SHARES} where it does not name them. */
    public static SortedMap<String, Integer> units(Map<String, Integer> configured) {
        var units = new TreeMap<>(USUAL);
        units.putAll(configured);
        return units;
    }

    private static CountedResource resource(String name, int units) {
        if (units < 1) {
            throw new IllegalArgumentException(
                    "A GPU has at least one unit of %s, not %d".formatted(name, units));
        }
        String example =
                units % 2 == 0
                        ? "%d for half a GPU, or %d for one and a half"
                                .formatted(units / 2, units / 2 * 3)
                        : units + " for a GPU";
        return new CountedResource(name, units * CountedResource.A_MILLION, example);
    }

    @Override
    public String name() {
        return "metagpu";
    }

    @Override
    public boolean reads(String resource) {
        return unitsPerGpu.containsKey(resource);
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        return resources;
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        GpuShare sum = GpuShare.NONE;
        for (CountedResource resource : resources) {
            int whole = Objects.requireNonNull(unitsPerGpu.get(resource.name()));
            Part part = new Part(resource.units(container), whole);
            sum = sum.plus(new GpuShare(part, part));
        }
        return BoundShare.exact(sum);
    }
}
