package io.gpusharing.scheduler.picture;

import io.gpusharing.sharing.Amounts;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * By which resources the cluster's nodes offer GPUs.
 *
 * @param ours on nodes of which our device plugin hands out the GPUs
 * @param others on all other nodes
 */
public record Offers(Set<String> ours, Set<String> others) {

    /**
     * What nodes offer.
     *
     * @param isGpu whether a resource is GPUs or parts of them
     * @param isOurs whether our device plugin hands out a node's GPUs
     * @param allocatable what a node has
     */
    public static <N> Offers of(
            Stream<N> nodes,
            Predicate<String> isGpu,
            Predicate<N> isOurs,
            Function<N, Amounts> allocatable) {
        Map<Boolean, Set<String>> offers =
                nodes.collect(
                        Collectors.partitioningBy(
                                isOurs,
                                Collectors.flatMapping(
                                        node -> some(allocatable.apply(node)).filter(isGpu),
                                        Collectors.toSet())));
        return new Offers(
                offers.getOrDefault(true, Set.of()), offers.getOrDefault(false, Set.of()));
    }

    /**
     * Whether a pod waits for GPUs that our nodes alone offer, and for a scheduler that does not
     * ask us which of their GPUs have room.
     */
    public boolean areMissedBy(ClusterSnapshot.Waiter waiter) {
        return waiter.reach() == Reach.BySums
                && some(waiter.ask().requests())
                        .anyMatch(it -> ours.contains(it) && !others.contains(it));
    }

    private static Stream<String> some(Amounts amounts) {
        return amounts.byResource().entrySet().stream()
                .filter(it -> it.getValue().signum() > 0)
                .map(Map.Entry::getKey);
    }
}
