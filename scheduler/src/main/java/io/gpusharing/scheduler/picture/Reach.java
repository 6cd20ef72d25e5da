package io.gpusharing.scheduler.picture;

/** On which nodes the scheduler of a waiting pod can place it, whatever is free there. */
public enum Reach {
    /** On all. */
    Everywhere,
    /** On all, though of our nodes it knows the sum of their GPUs alone. */
    BySums,
    /** Where our device plugin hands out the GPUs. */
    Shared,
    /** Where another provider does: on ours it does not know which GPUs are taken. */
    NotShared;

    public boolean admits(NodeView node) {
        return switch (this) {
            case Everywhere, BySums -> true;
            case Shared -> node.shared() != null;
            case NotShared -> node.shared() == null;
        };
    }
}
