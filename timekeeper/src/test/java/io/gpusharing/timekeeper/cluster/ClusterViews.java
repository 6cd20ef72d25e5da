package io.gpusharing.timekeeper.cluster;

import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.testing.Pods;

/** Views for tests of other packages. */
public final class ClusterViews {

    private ClusterViews() {}

    /** Knows that node, and one pod. */
    public static ClusterView withPod(PodFacts pod) {
        ClusterView view = withNode();
        view.put(pod);
        return view;
    }

    /** Knows the node that all test pods run on. */
    public static ClusterView withNode() {
        var view = new ClusterView();
        view.put(Pods.NODE, Pods.NODE_FACTS);
        return view;
    }
}
