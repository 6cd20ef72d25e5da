package io.gpusharing.timekeeper.cluster;

import io.gpusharing.kubernetes.GpuNode;

/** Looks at every {@code GpuNode}, as the API server reports it. */
@FunctionalInterface
public interface GpuNodeObserver {

    /** One that was listed, is new, or has changed. */
    void onGpuNode(GpuNode node);
}
