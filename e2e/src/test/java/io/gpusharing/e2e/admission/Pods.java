package io.gpusharing.e2e.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Pods as JSON, and which parts of them are ours. */
final class Pods {

    private static final ObjectMapper JSON = new ObjectMapper();

    private Pods() {}

    /** A pod with one container that asks for half a GPU. */
    static ObjectNode halfAGpu(String name) {
        return Api.yaml(
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  containers:
                  - name: cuda
                    image: cuda
                    resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15}}
                """
                        .formatted(name));
    }

    /** A pod that asks for no GPU. */
    static ObjectNode withoutGpu(String name) {
        return Api.yaml(
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec: {containers: [{name: web, image: web}]}
                """
                        .formatted(name));
    }

    static ObjectNode of(Map<String, Object> manifest) {
        return JSON.valueToTree(manifest);
    }

    static String annotation(JsonNode pod, String key) {
        return pod.path("metadata").path("annotations").path(key).asText("");
    }

    /** The container that the webhook's annotation names; missing if there is none. */
    static JsonNode sidecar(JsonNode pod) {
        String name = annotation(pod, "gpusharing.io/sidecar");
        return named(pod.path("spec").path("initContainers"), name);
    }

    static JsonNode named(JsonNode list, String name) {
        return stream(list)
                .filter(entry -> entry.path("name").asText().equals(name))
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    static List<String> names(JsonNode list) {
        return stream(list).map(entry -> entry.path("name").asText()).toList();
    }

    static Stream<JsonNode> stream(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }

    /** The manifest of this pod as a user would save it to create it again. */
    static ObjectNode saved(ObjectNode stored) {
        ObjectNode manifest = stored.deepCopy();
        manifest.remove("status");
        manifest.withObject("/metadata")
                .remove(
                        List.of(
                                "uid",
                                "resourceVersion",
                                "creationTimestamp",
                                "managedFields",
                                "generation",
                                "namespace"));
        return manifest;
    }

    /**
     * Metadata and spec without what the API server makes up anew for each pod, and without the
     * second of our stamp.
     */
    static ObjectNode comparable(ObjectNode stored) {
        ObjectNode pod = saved(stored);
        pod.withObject("/metadata").remove(List.of("name", "generateName"));
        if (pod.at("/metadata/annotations/gpusharing.io~1standing-as-of").isTextual()) {
            pod.withObject("/metadata/annotations").put("gpusharing.io/standing-as-of", "then");
        }
        pod.findParents("name").stream()
                .filter(each -> each.path("name").asText().startsWith("kube-api-access-"))
                .forEach(each -> ((ObjectNode) each).put("name", "kube-api-access"));
        return pod;
    }

    /** The pod as it would be if we had not been there. */
    static ObjectNode withoutOurs(ObjectNode stored) {
        ObjectNode rest = stored.deepCopy();
        ObjectNode spec = rest.withObject("/spec");
        String sidecar = annotation(rest, "gpusharing.io/sidecar");
        if (!sidecar.isEmpty()
                && spec.path("initContainers").path(0).path("name").asText().equals(sidecar)) {
            ((ArrayNode) spec.path("initContainers")).remove(0);
        }
        removeNamed(spec.path("volumes"), List.of("gpusharing-token", "gpusharing-state"));
        if (spec.path("priorityClassName").equals(TextNode.valueOf("gpu-in-budget"))) {
            spec.remove("priorityClassName");
        }
        for (String map : List.of("annotations", "labels")) {
            if (rest.path("metadata").path(map) instanceof ObjectNode keys) {
                keys.remove(
                        keys.properties().stream()
                                .map(Map.Entry::getKey)
                                .filter(Pods::isOurs)
                                .toList());
                removeIfEmpty(rest.withObject("/metadata"), map);
            }
        }
        removeIfEmpty(spec, "initContainers");
        removeIfEmpty(spec, "volumes");
        return rest;
    }

    private static boolean isOurs(String key) {
        return key.startsWith("gpusharing.io/") || key.equals("tencent.com/vcuda-core-limit");
    }

    private static void removeNamed(JsonNode list, List<String> names) {
        for (int i = list.size() - 1; i >= 0; i--) {
            if (names.contains(list.path(i).path("name").asText())) {
                ((ArrayNode) list).remove(i);
            }
        }
    }

    private static void removeIfEmpty(ObjectNode parent, String field) {
        if (parent.path(field).isEmpty()) {
            parent.remove(field);
        }
    }
}
