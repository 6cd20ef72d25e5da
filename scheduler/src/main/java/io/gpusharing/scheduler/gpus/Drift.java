package io.gpusharing.scheduler.gpus;

/**
 * Where what is written about a node's GPUs does not agree. Of the two, the device plugin's grant
 * is what the pod has, and is counted.
 *
 * @param subject the UID of a pod, or of a GPU where more is held of it than it has
 */
public record Drift(Kind kind, String node, String subject) {

    /** What does not agree. */
    public enum Kind {
        /** More is held of a GPU than it has, or somebody has a part of another's whole one. */
        OVERBOOKED,
        /** A pod was granted other GPUs than those that were written on it with its binding. */
        ELSEWHERE,
        /**
         * A bound pod of which nobody says which GPUs it is on: it blocks all that it could be on.
         */
        UNPLACED,
        /** The device plugin counts a pod that has gone, or that is not followed here. */
        GONE
    }
}
