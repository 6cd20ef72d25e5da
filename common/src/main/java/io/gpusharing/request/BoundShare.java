package io.gpusharing.request;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a pod holds on its node.
 *
 * @param share compute and memory part, in micro-GPUs
 * @param missing what the node's labels and capacity leave out; for each of them the grammar's
 *     default stands in, so that the share is an estimate unless this is empty
 */
public record BoundShare(GpuShare share, Set<NodeFact> missing) {

    /** Nothing, exactly. */
    public static final BoundShare NONE = exact(GpuShare.NONE);

    public BoundShare {
        missing =
                missing.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(missing));
    }

    /**
     * @param memoryKnown false if the node does not say how large its devices are
     */
    public BoundShare(GpuShare share, boolean memoryKnown) {
        this(share, memoryKnown ? Set.of() : Set.of(NodeFact.MEMORY_PER_GPU));
    }

    /** A share with nothing left to guess. */
    public static BoundShare exact(GpuShare share) {
        return new BoundShare(share, Set.of());
    }

    /** The same in whole micro-GPUs. */
    public BoundShare rounded() {
        return new BoundShare(share.rounded(), missing);
    }

    /** Whether nothing was guessed. */
    public boolean isExact() {
        return missing.isEmpty();
    }

    /** False if the node does not say how large its devices are. */
    public boolean memoryKnown() {
        return !missing.contains(NodeFact.MEMORY_PER_GPU);
    }

    /** Both shares held at once; a guess in one is a guess in the sum. */
    public BoundShare plus(BoundShare other) {
        return new BoundShare(share.plus(other.share), union(missing, other.missing));
    }

    public static Set<NodeFact> union(Set<NodeFact> one, Set<NodeFact> two) {
        if (one.isEmpty() || two.isEmpty()) {
            return one.isEmpty() ? two : one;
        }
        Set<NodeFact> both = EnumSet.copyOf(one);
        both.addAll(two);
        return both;
    }
}
