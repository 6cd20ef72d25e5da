package io.gpusharing.webhook.cluster;

import java.util.Map;
import java.util.Set;

/**
 * What the nodes offer whose GPUs our device plugin hands out.
 *
 * @param offering nodes with a {@code GpuNode}, by each resource that it names
 * @param labelled nodes on which our device plugin is to run: a {@code GpuNode} stays when it ends
 * @param elsewhere resources that other nodes have, too: our scheduler sends nobody there
 */
public record SharedGpus(
        Map<String, Set<String>> offering, Set<String> labelled, Set<String> elsewhere) {

    /** There are none, or it is none of our business. */
    public static final SharedGpus NONE = new SharedGpus(Map.of(), Set.of(), Set.of());

    /** Whether a node of ours offers the resource, and no other provider's. */
    public boolean offer(String resource) {
        return !elsewhere.contains(resource) && alsoOffer(resource);
    }

    /** Whether a node of ours offers the resource; nodes of other providers may, too. */
    public boolean alsoOffer(String resource) {
        return offering.getOrDefault(resource, Set.of()).stream().anyMatch(labelled::contains);
    }
}
