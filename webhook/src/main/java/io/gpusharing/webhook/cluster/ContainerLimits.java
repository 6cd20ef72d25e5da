package io.gpusharing.webhook.cluster;

import io.gpusharing.request.Quantity;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the LimitRanges of a namespace demand of every container, and of a pod as a whole, by the
 * name of the resource.
 *
 * @param min least request of a container
 * @param max largest limit of a container
 * @param podMax largest sum of a pod's limits
 * @param bounded resources whose limit, of a container or of the pod, may be only so many times the
 *     request
 * @param defaulted resources of which a container gets an amount where it names none
 */
public record ContainerLimits(
        Map<String, Quantity> min,
        Map<String, Quantity> max,
        Map<String, Quantity> podMax,
        Map<String, Quantity> bounded,
        Set<String> defaulted) {

    /** Nothing is demanded. */
    public static final ContainerLimits NONE =
            new ContainerLimits(Map.of(), Map.of(), Map.of(), Map.of(), Set.of());

    public ContainerLimits {
        min = Map.copyOf(min);
        max = Map.copyOf(max);
        podMax = Map.copyOf(podMax);
        bounded = Map.copyOf(bounded);
        defaulted = Set.copyOf(defaulted);
    }

    /** Where nothing is given by default. */
    public ContainerLimits(
            Map<String, Quantity> min,
            Map<String, Quantity> max,
            Map<String, Quantity> podMax,
            Map<String, Quantity> bounded) {
        this(min, max, podMax, bounded, Set.of());
    }

    /** All of them hold together: the larger minimum, the smaller maximum. */
    public static ContainerLimits of(Collection<ContainerLimits> all) {
        return all.stream().reduce(NONE, ContainerLimits::and);
    }

    /** Whether a container that asks for none of the resource is refused. */
    public boolean demand(String resource) {
        Quantity least = min.get(resource);
        return bounded.containsKey(resource) || (least != null && !least.isZero());
    }

    private ContainerLimits and(ContainerLimits other) {
        var all = new HashSet<>(defaulted);
        all.addAll(other.defaulted);
        return new ContainerLimits(
                merged(min, other.min, 1),
                merged(max, other.max, -1),
                merged(podMax, other.podMax, -1),
                merged(bounded, other.bounded, -1),
                all);
    }

    /**
     * @param sign 1 keeps the larger, -1 the smaller
     */
    private static Map<String, Quantity> merged(
            Map<String, Quantity> one, Map<String, Quantity> two, int sign) {
        var merged = new HashMap<>(one);
        two.forEach((name, amount) ->
                merged.merge(
                        name,
                        amount,
                        (a, b) -> a.value().compareTo(b.value()) * sign >= 0 ? a : b));
        return merged;
    }
}
