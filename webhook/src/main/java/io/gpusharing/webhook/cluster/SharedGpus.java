package io.gpusharing.webhook.cluster;

import java.util.Map;
import java.util.Set;

/**
 * What the nodes offer whose GPUs our device plugin hands out.
 *
 * @param offering nodes with a {@code GpuNode}, by each resource that it names
 * @param labelled nodes on which our device plugin is to run: a {@code GpuNode} stays when it ends
 * @param elsewhere resources that other nodes have, too: our scheduler sends nobody there
 * @param awaited resources that no node has, and that the first one to come will have from us
 */
public record SharedGpus(
        Map<String, Set<String>> offering,
        Set<String> labelled,
        Set<String> elsewhere,
        Set<String> awaited) {

    /** There are none, or it is none of our business. */
    public static final SharedGpus NONE = new SharedGpus(Map.of(), Set.of(), Set.of(), Set.of());

    /**
     * Whether nodes of ours alone offer the resource, or will: pods that wait for the first of them
     * are not placed by another scheduler, which counts all of its GPUs as one.
     */
    public boolean offer(String resource) {
        return !elsewhere.contains(resource) && (alsoOffer(resource) || awaited.contains(resource));
    }

    /** Whether a node of ours offers the resource; nodes of other providers may, too. */
    public boolean alsoOffer(String resource) {
        return offering.getOrDefault(resource, Set.of()).stream().anyMatch(labelled::contains);
    }
}
