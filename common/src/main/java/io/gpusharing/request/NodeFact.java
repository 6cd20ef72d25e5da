package io.gpusharing.request;

/**
 * Something of a node that the worth of a request can depend on. Before a pod is bound it is the
 * reason why its worth is not known yet; on a node that does not name it, the grammar's documented
 * default stands in and the answer says so.
 */
public enum NodeFact {
    /** How much memory each GPU has. */
    MEMORY_PER_GPU("the memory part depends on the size of the node's GPUs"),
    /** Among how many pods a GPU or a MIG slice is shared. */
    REPLICAS_PER_GPU("the node may share a GPU among several pods"),
    /** Which GPU a MIG profile cuts: the same name is another part of another model. */
    GPU_MODEL("the MIG profile is another part of each GPU model"),
    /** How a MIG profile divides a GPU, where the profile is not in our table. */
    MIG_PROFILE("the MIG profile is not known and counts as a whole GPU");

    private final String reason;

    NodeFact(String reason) {
        this.reason = reason;
    }

    /** Why the worth is not known without it, without a full stop. */
    public String reason() {
        return reason;
    }
}
