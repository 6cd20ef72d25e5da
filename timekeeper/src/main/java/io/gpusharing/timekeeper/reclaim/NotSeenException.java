package io.gpusharing.timekeeper.reclaim;

/** The cluster could not be read in time; somebody else is at it. */
public class NotSeenException extends RuntimeException {

    NotSeenException() {
        super("The cluster is being read for another question; ask again in a few seconds");
    }
}
