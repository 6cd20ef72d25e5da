package io.gpusharing.scheduler.explaining;

/** The cluster cannot be seen now; the message says why, and that it passes. */
public class NotSeenException extends RuntimeException {

    private NotSeenException(String why) {
        super(why + "; ask again in a few seconds");
    }

    /** Somebody else is at it, and it takes too long. */
    static NotSeenException busy() {
        return new NotSeenException("The cluster is being read for another question");
    }

    /** This replica has begun a moment ago. */
    static NotSeenException early() {
        return new NotSeenException("The scheduler is still reading the cluster");
    }
}
