package io.gpusharing.scheduler.cluster;

import java.util.Optional;

/** Whether what watches have shown is a picture of the whole cluster as it is now. */
public interface ClusterSight {

    /**
     * Why it is none, in words: something has not been read yet, or nothing has been heard of it
     * for minutes. Empty if it is one.
     */
    Optional<String> whyUnseen();
}
