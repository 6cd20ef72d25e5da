package io.gpusharing.request;

import java.util.List;

/** What a grammar says about one pod. Exactly one of the four. */
public sealed interface Verdict {

    /** The pod asks for no GPU; we have nothing to say. */
    record NotOurs() implements Verdict {}

    /**
     * Legal, and its worth is known already.
     *
     * @param share what the pod will hold, in micro-GPUs
     */
    record Legal(GpuShare share) implements Verdict {}

    /**
     * Legal, but all of its worth is known only on its node.
     *
     * @param leastShare what it will hold at least, in micro-GPUs
     * @param reason what has to be known of the node
     */
    record LegalUntilBound(GpuShare leastShare, String reason) implements Verdict {}

    /**
     * Illegal.
     *
     * @param violations every violation at once, in the order of the containers, so that one edit
     *     mends the manifest
     */
    record Illegal(List<Violation> violations) implements Verdict {

        public Illegal {
            violations = List.copyOf(violations);
        }
    }
}
