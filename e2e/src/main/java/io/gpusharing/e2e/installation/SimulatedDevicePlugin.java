package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.e2e.cluster.TestCluster;
import java.time.Duration;
import org.awaitility.Awaitility;

/**
 * Says what GPUs a simulated node has, with the token of the pod that the DaemonSet of the device
 * plugin has there; nobody else may.
 */
public final class SimulatedDevicePlugin {

    private static final String NAME = "gpusharing-device-plugin";

    private SimulatedDevicePlugin() {}

    /**
     * Waits for that pod, and writes the {@code GpuNode}.
     *
     * @param node name of a node that has the label of ours
     * @param gpus how many it has
     */
    public static void describe(TestCluster cluster, String node, int gpus) {
        String pod =
                Awaitility.await("the DaemonSet has a pod on " + node)
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> podOn(cluster, node), name -> !name.isEmpty());
        String token =
                cluster.kubectl()
                        .run(
                                "create",
                                "token",
                                NAME,
                                "--namespace=" + Installation.NAMESPACE,
                                "--bound-object-kind=Pod",
                                "--bound-object-name=" + pod)
                        .orFail();
        Config admin = cluster.client().getConfiguration();
        Config config = Config.empty();
        config.setMasterUrl(admin.getMasterUrl());
        config.setCaCertFile(admin.getCaCertFile());
        config.setOauthToken(token.strip());
        try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
            new SimulatedGpuNode(client, node, gpus).create();
        }
    }

    private static String podOn(TestCluster cluster, String node) {
        return cluster
                .client()
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel("app.kubernetes.io/component", "device-plugin")
                .list()
                .getItems()
                .stream()
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map((Pod pod) -> pod.getMetadata().getName())
                .findFirst()
                .orElse("");
    }
}
