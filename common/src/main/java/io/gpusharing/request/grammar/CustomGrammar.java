package io.gpusharing.request.grammar;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Extended resources that only this site knows, each with a fixed worth per unit. All of them are
 * one grammar: a pod may ask for several.
 */
public final class CustomGrammar extends CountingGrammar {

    private final Map<String, GpuShare> perUnit = new HashMap<>();
    private final List<CountedResource> resources;

    /**
     * @throws IllegalArgumentException if a resource is given twice
     */
    public CustomGrammar(List<CustomResource> custom) {
        var counted = new ArrayList<CountedResource>();
        for (CustomResource resource : custom) {
            if (perUnit.put(resource.resource(), resource.perUnit()) != null) {
                throw new IllegalArgumentException(
                        "The custom resource %s is given twice; give it once"
                                .formatted(resource.resource()));
            }
            counted.add(new CountedResource(resource.resource(), most(resource.perUnit()), "1"));
        }
        resources = List.copyOf(counted);
    }

    @Override
    public String name() {
        return "custom";
    }

    @Override
    public boolean reads(String resource) {
        return perUnit.containsKey(resource);
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        return resources;
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        GpuShare sum = GpuShare.NONE;
        for (CountedResource resource : resources) {
            long units = resource.units(container);
            GpuShare each = perUnit.getOrDefault(resource.name(), GpuShare.NONE);
            if (units > 0) {
                sum = sum.plus(new GpuShare(units * each.compute(), units * each.memory()));
            }
        }
        return BoundShare.exact(sum);
    }

    /** As many units as a million GPUs are, or a million where a unit is less than one GPU. */
    private static long most(GpuShare perUnit) {
        long larger = Math.max(perUnit.compute(), perUnit.memory());
        return larger <= GpuShare.WHOLE
                ? CountedResource.A_MILLION
                : CountedResource.A_MILLION * GpuShare.WHOLE / larger;
    }
}
