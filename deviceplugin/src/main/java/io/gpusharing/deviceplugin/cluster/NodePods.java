package io.gpusharing.deviceplugin.cluster;

import java.time.Duration;
import java.util.Optional;

/** The pods of this node. */
public interface NodePods {

    /** A pod, as it was last seen. */
    Optional<NodePod> byUid(String uid);

    /**
     * Whether the pods have been listed once. Before, a pod that is not here may be there all the
     * same.
     */
    boolean isListed();

    /**
     * A pod, as soon as it is seen: the kubelet may know it earlier than we do.
     *
     * @param most how long to wait for it
     * @return nothing if it was not seen by then
     */
    Optional<NodePod> await(String uid, Duration most) throws InterruptedException;
}
