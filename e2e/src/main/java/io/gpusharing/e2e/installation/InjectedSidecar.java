package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import java.util.Map;

/** The container that the webhook injected, started from the stored pod's own spec. */
public final class InjectedSidecar {

    private InjectedSidecar() {}

    /**
     * Starts it on a fake GPU.
     *
     * @param scenario what happens on that GPU, in the words of the sidecar's {@code Scenario}
     */
    public static Program start(TestCluster cluster, Pod pod, String... scenario) {
        return start(cluster, pod, Map.of(), scenario);
    }

    /**
     * The same.
     *
     * @param more environment over what the pod says
     */
    public static Program start(
            TestCluster cluster, Pod pod, Map<String, String> more, String... scenario) {
        String name = pod.getMetadata().getAnnotations().get("gpusharing.io/sidecar");
        Container container =
                pod.getSpec().getInitContainers().stream()
                        .filter(candidate -> candidate.getName().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("No sidecar was injected"));
        return MeterContainer.start(
                cluster,
                "sidecar-of-" + pod.getMetadata().getName(),
                pod,
                container,
                more,
                scenario);
    }
}
