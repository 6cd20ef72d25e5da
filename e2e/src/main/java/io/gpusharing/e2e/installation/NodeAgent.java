package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The node agent of one node, started from the pod that the chart's DaemonSet has there. */
public final class NodeAgent {

    private NodeAgent() {}

    /** The agent's pod on a node, once the DaemonSet has made it. */
    public static Optional<Pod> podOn(TestCluster cluster, String node) {
        return cluster
                .client()
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel("app.kubernetes.io/component", "node-agent")
                .list()
                .getItems()
                .stream()
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .findFirst();
    }

    /**
     * Starts it on fake GPUs.
     *
     * @param pod of the DaemonSet, on its node
     * @param more environment over what the pod says
     * @param scenario what happens on those GPUs, in the words of the sidecar's {@code Scenario}
     */
    public static Program start(
            TestCluster cluster,
            Installation installation,
            Pod pod,
            Map<String, String> more,
            String... scenario) {
        var environment = new HashMap<String, String>();
        environment.put("GPUSHARING_TIMEKEEPER_URL", installation.timekeeperUrl().toString());
        environment.put("GPUSHARING_METRICS_PORT", "0");
        environment.putAll(more);
        return MeterContainer.start(
                cluster,
                "agent-on-" + pod.getSpec().getNodeName(),
                pod,
                pod.getSpec().getContainers().getFirst(),
                environment,
                scenario);
    }
}
