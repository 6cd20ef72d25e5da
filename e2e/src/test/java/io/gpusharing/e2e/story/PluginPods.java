package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.GpuPods.SOON;
import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.TestCluster;
import java.util.ArrayList;
import java.util.List;

/** The pods of our device plugin, of which the first real node has one. */
final class PluginPods {

    private final TestCluster cluster;

    PluginPods(TestCluster cluster) {
        this.cluster = cluster;
    }

    /** Deletes those of all nodes; the DaemonSet makes others. */
    void delete() {
        ours("delete", "pods", "--selector=app.kubernetes.io/component=device-plugin");
    }

    /** Waits until each node that is to have one has one that is ready. */
    void awaitRollout() {
        ours("rollout", "status", "daemonset/gpusharing-device-plugin", "--timeout=90s");
    }

    /** How often that of the first node was started again. */
    int restarts() {
        return Integer.parseInt(ofTheFirstNode("restartCount"));
    }

    /** Waits until that of the first node was started once more, and is ready. */
    void awaitRestartAfter(int restarts) {
        await("the plugin runs again")
                .atMost(SOON)
                // It has no status for a moment.
                .ignoreExceptions()
                .until(() -> restarts() > restarts && ofTheFirstNode("ready").equals("true"));
    }

    /** What those of the first node have logged. */
    String log() {
        return ours("logs", "--selector=app.kubernetes.io/component=device-plugin", "--tail=-1");
    }

    private String ofTheFirstNode(String field) {
        return ours(
                "get",
                "pods",
                "--selector=app.kubernetes.io/component=device-plugin",
                "--field-selector=spec.nodeName=" + RealNodes.FIRST,
                "--output=jsonpath={.items[0].status.containerStatuses[0].%s}".formatted(field));
    }

    private String ours(String... words) {
        var command = new ArrayList<>(List.of(words));
        command.add("--namespace=gpusharing-system");
        return cluster.kubectl().run(command.toArray(String[]::new)).orFail();
    }
}
