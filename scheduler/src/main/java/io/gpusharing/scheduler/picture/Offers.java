package io.gpusharing.scheduler.picture;

import io.gpusharing.sharing.Amounts;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which resources the cluster's nodes offer.
 *
 * @param ours nodes of which our device plugin hands out the GPUs
 * @param others all other nodes
 */
public record Offers(Set<String> ours, Set<String> others) {

    /**
     * What nodes offer.
     *
     * @param isOurs whether our device plugin hands out a node's GPUs
     * @param allocatable what a node has
     */
    public static <N> Offers of(
            Stream<N> nodes, Predicate<N> isOurs, Function<N, Amounts> allocatable) {
        Map<Boolean, Set<String>> offers =
                nodes.collect(
                        Collectors.partitioningBy(
                                isOurs,
                                Collectors.flatMapping(
                                        node -> extended(allocatable.apply(node)),
                                        Collectors.toSet())));
        return new Offers(
                offers.getOrDefault(true, Set.of()), offers.getOrDefault(false, Set.of()));
    }

    /**
     * Whether a pod waits for what our nodes alone offer, and for a scheduler that does not ask us
     * which of their GPUs have room.
     */
    public boolean areMissedBy(ClusterSnapshot.Waiter waiter) {
        return waiter.reach() == Reach.BySums
                && extended(waiter.ask().requests())
                        .anyMatch(it -> ours.contains(it) && !others.contains(it));
    }

    /** Resources of device plugins have a domain. */
    private static Stream<String> extended(Amounts amounts) {
        return amounts.byResource().entrySet().stream()
                .filter(it -> it.getValue().signum() > 0)
                .map(Map.Entry::getKey)
                .filter(it -> it.indexOf('/') > 0);
    }
}
