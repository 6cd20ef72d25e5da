package io.gpusharing.e2e.admission;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * What the webhooks of other programs make of a new pod, as far as it concerns ours: patches in
 * YAML for {@link OtherWebhook}.
 */
final class OtherPrograms {

    private OtherPrograms() {}

    /**
     * Istio with native sidecars moves its own in front of all others, {@code istio-init} first.
     */
    static String nativeProxy(JsonNode pod) {
        return """
        [%s{op: add, path: /spec/initContainers/0, value: {name: istio-proxy, image: proxyv2, restartPolicy: Always}},
         {op: add, path: /spec/initContainers/0, value: {name: istio-init, image: proxyv2}}]
        """
                .formatted(initContainers(pod));
    }

    /** Istio without native sidecars, and with {@code holdApplicationUntilProxyStarts}. */
    static String heldByTheProxy(JsonNode pod) {
        return """
        [%s{op: add, path: /spec/containers/0, value: {name: istio-proxy, image: proxyv2, lifecycle: {postStart: {exec: {command: [pilot-agent, wait]}}}}},
         {op: add, path: /spec/initContainers/-, value: {name: istio-init, image: proxyv2}}]
        """
                .formatted(initContainers(pod));
    }

    private static String initContainers(JsonNode pod) {
        return pod.at("/spec/initContainers").isArray()
                ? ""
                : "{op: add, path: /spec/initContainers, value: []}, ";
    }

    /** A rule of Kyverno's that has every image come from a mirror. */
    static String mirrored(JsonNode pod) {
        var operations = new ArrayList<String>();
        for (String list : List.of("containers", "initContainers")) {
            int index = 0;
            for (JsonNode container : pod.path("spec").path(list)) {
                String image = container.path("image").asText();
                if (!image.startsWith("mirror.example.com/")) {
                    operations.add(
                            "{op: replace, path: /spec/%s/%d/image, value: 'mirror.example.com/%s'}"
                                    .formatted(list, index, image));
                }
                index++;
            }
        }
        return operations.toString();
    }

    /** Kueue's gate and, in a pod group, its hash of what is a pod's shape to it. */
    static String queued(JsonNode pod) {
        var shape = new ArrayList<JsonNode>();
        for (String list : List.of("initContainers", "containers")) {
            for (JsonNode container : pod.path("spec").path(list)) {
                shape.add(container.path("resources").path("requests"));
                shape.add(container.path("ports"));
            }
        }
        shape.add(pod.path("spec").path("priority"));
        boolean inGroup = pod.path("metadata").path("labels").has("kueue.x-k8s.io/pod-group-name");
        return "[{op: add, path: /spec/schedulingGates, value: [{name: kueue.x-k8s.io/admission}]}%s]"
                .formatted(
                        inGroup
                                ? ", {op: add, path: /metadata/annotations/kueue.x-k8s.io~1role-hash, value: 'h%x'}"
                                        .formatted(shape.hashCode())
                                : "");
    }
}
