package io.gpusharing.scheduler.pods;

/** Whose priority is whose: Kubernetes keeps those above a billion to itself. */
public final class Priorities {

    /** The highest that a PriorityClass of a user may have. */
    private static final int HIGHEST_OF_USERS = 1_000_000_000;

    private Priorities() {}

    /** Whether a class of this priority belongs to the cluster itself. */
    public static boolean isOfCluster(int priority) {
        return priority > HIGHEST_OF_USERS;
    }
}
