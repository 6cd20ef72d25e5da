package io.gpusharing.timekeeper.cluster;

/** Says whether what happens to pods is being reported. */
public interface PodFeed {

    /**
     * Whether pods are watched, the watch has not failed lately, and the API server was not silent
     * for longer than it ever is.
     */
    boolean isLive();
}
