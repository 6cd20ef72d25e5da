package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;

/** Looks at every metered pod as the API server reports it, before it is read for accounting. */
public interface PodObserver {

    /** A pod that was listed, is new, has changed, or has gone; must not wait for anything. */
    void onPod(Pod pod);
}
