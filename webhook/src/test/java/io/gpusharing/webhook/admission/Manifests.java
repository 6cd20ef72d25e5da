package io.gpusharing.webhook.admission;

import java.util.Map;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Manifests as people write them, and as the API server sends them on. */
public final class Manifests {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    private Manifests() {}

    /** A manifest in YAML. */
    public static ObjectNode yaml(String text) {
        return (ObjectNode) MAPPER.valueToTree(new Yaml().<Map<String, Object>>load(text));
    }

    /** A pod with one container that asks for half a GPU. */
    static ObjectNode halfAGpu() {
        return yaml(
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: half}
                spec:
                  containers:
                  - name: cuda
                    image: cuda
                    resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15}}
                """);
    }

    /**
     * What webhooks see of a new pod: quantities are text, limits are copied into missing requests,
     * and the Priority plugin has filled in number and policy of the class.
     */
    static ObjectNode asReceived(ObjectNode pod) {
        ObjectNode received = pod.deepCopy();
        ObjectNode spec = received.withObject("/spec");
        spec.path("containers").forEach(Manifests::defaults);
        spec.path("initContainers").forEach(Manifests::defaults);
        if (!spec.has("priority")) {
            spec.put("priority", 0);
        }
        if (!spec.has("preemptionPolicy")) {
            spec.put("preemptionPolicy", "PreemptLowerPriority");
        }
        return received;
    }

    private static void defaults(JsonNode container) {
        JsonNode resources = container.path("resources");
        if (resources.isObject() && resources.has("limits")) {
            ObjectNode limits = ((ObjectNode) resources).withObject("/limits");
            limits.propertyNames().stream()
                    .toList()
                    .forEach(name -> limits.put(name, limits.get(name).asString()));
            ObjectNode requests = ((ObjectNode) resources).withObject("/requests");
            limits.propertyStream()
                    .filter(limit -> !requests.has(limit.getKey()))
                    .forEach(limit -> requests.set(limit.getKey(), limit.getValue()));
        }
        if (resources.path("requests").isObject()) {
            ObjectNode requests = ((ObjectNode) resources).withObject("/requests");
            requests.propertyNames().stream()
                    .toList()
                    .forEach(name -> requests.put(name, requests.get(name).asString()));
        }
    }
}
