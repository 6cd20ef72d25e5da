package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;

/** Looks at every metered pod that can be read for accounting, as the API server reports it. */
public interface PodObserver {

    /** A pod that was listed, is new, has changed, or has gone; must not wait for anything. */
    void onPod(Pod pod);
}
