package io.gpusharing.scheduler.cluster;

/** Whether what is known of the cluster is enough to place a pod. */
public interface ClusterKnowledge {

    /** Whether all GPUs and pods that there were have been read. */
    boolean isKnown();
}
