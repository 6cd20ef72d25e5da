package io.gpusharing.timekeeper.cluster;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.testing.Pods;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Views for tests of other packages. */
public final class ClusterViews {

    private ClusterViews() {}

    /** Has that node, and one pod. */
    public static ClusterView withPod(PodFacts pod) {
        ClusterView view = withNode();
        view.put(pod);
        return view;
    }

    /** Has the node that all test pods run on. */
    public static ClusterView withNode() {
        return withNode(Pods.NODE_FACTS);
    }

    /** Has these facts of the node that all test pods run on. */
    public static ClusterView withNode(NodeFacts facts) {
        var view = new ClusterView();
        view.put(Pods.NODE, facts);
        return view;
    }

    /** The same, and these GPUs of it by the word of its device plugin. */
    public static ClusterView withNode(NodeFacts facts, Map<String, PhysicalGpu> gpus) {
        ClusterView view = withNode(facts);
        view.putGpus(Pods.NODE, gpus);
        return view;
    }

    /** It has become known that the node has these GPUs. */
    public static void learn(ClusterView view, Map<String, PhysicalGpu> gpus) {
        view.putGpus(Pods.NODE, gpus);
    }

    /** Has listed these pods. */
    public static ClusterView showing(PodFacts... pods) {
        ClusterView view = withNode();
        show(view, List.of(pods));
        return view;
    }

    /** These pods are there now, and no others. */
    public static void show(ClusterView view, List<PodFacts> pods) {
        view.replacePods(pods, Set.of());
    }
}
