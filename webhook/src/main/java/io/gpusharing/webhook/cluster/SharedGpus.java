package io.gpusharing.webhook.cluster;

import java.util.Map;
import java.util.Set;

/**
 * What the nodes offer whose GPUs our device plugin hands out.
 *
 * @param offering nodes with a {@code GpuNode}, by each resource that it names
 * @param labelled nodes on which our device plugin is to run: a {@code GpuNode} stays when it ends
 */
public record SharedGpus(Map<String, Set<String>> offering, Set<String> labelled) {

    /** There are none, or it is none of our business. */
    public static final SharedGpus NONE = new SharedGpus(Map.of(), Set.of());

    /** Whether a node of ours offers the resource. */
    public boolean offer(String resource) {
        return offering.getOrDefault(resource, Set.of()).stream().anyMatch(labelled::contains);
    }
}
