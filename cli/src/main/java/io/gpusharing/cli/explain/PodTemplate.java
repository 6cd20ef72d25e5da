package io.gpusharing.cli.explain;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What an object makes pods of.
 *
 * @param path where it stands in the object, for instance {@code spec.template.}; empty for a pod
 * @param object metadata and spec
 */
record PodTemplate(Manifest manifest, String path, ObjectNode object) {

    /** Where the template stands in each kind of Kubernetes itself. */
    private static final Map<String, String> TEMPLATES =
            Map.of(
                    "Deployment", "spec.template.",
                    "ReplicaSet", "spec.template.",
                    "StatefulSet", "spec.template.",
                    "DaemonSet", "spec.template.",
                    "Job", "spec.template.",
                    "ReplicationController", "spec.template.",
                    "PodTemplate", "template.",
                    "CronJob", "spec.jobTemplate.spec.template.");

    /** The kinds that are known, in words. */
    static final String KINDS =
            "Pod, or " + TEMPLATES.keySet().stream().sorted().collect(Collectors.joining(", "));

    /** What the API server takes of a generated name, with room for what it adds. */
    private static final int LONGEST_PREFIX = 58;

    static boolean isKnown(String kind) {
        return kind.equals("Pod") || TEMPLATES.containsKey(kind);
    }

    /**
     * The templates of an object; of an operator's kind those that look like one, and none of an
     * object that makes no pods.
     */
    static List<PodTemplate> of(Manifest manifest) {
        String path = TEMPLATES.get(manifest.kind());
        if (manifest.kind().equals("Pod")) {
            return List.of(new PodTemplate(manifest, "", manifest.object()));
        }
        var found = new ArrayList<PodTemplate>();
        if (path == null) {
            search(manifest, "", manifest.object(), found);
            return found;
        }
        JsonNode template = manifest.object().at("/" + withoutDot(path).replace('.', '/'));
        // Of none the API server says what is missing.
        return List.of(
                new PodTemplate(
                        manifest,
                        path,
                        template instanceof ObjectNode it ? it : manifest.object().objectNode()));
    }

    private static void search(
            Manifest manifest, String path, JsonNode here, List<PodTemplate> found) {
        if (here instanceof ObjectNode object) {
            if (!path.isEmpty() && object.at("/spec/containers").isArray()) {
                found.add(new PodTemplate(manifest, path, object));
                return;
            }
            object.forEachEntry((name, value) -> search(manifest, path + name + ".", value, found));
        }
        if (here.isArray()) {
            for (int i = 0; i < here.size(); i++) {
                search(manifest, "%s[%d].".formatted(withoutDot(path), i), here.get(i), found);
            }
        }
    }

    private static String withoutDot(String path) {
        return path.replaceFirst("\\.$", "");
    }

    /** As people call it; of an operator's object it says which one. */
    String title() {
        return isKnown(manifest.kind())
                ? manifest.title()
                : manifest.title() + " " + withoutDot(path);
    }

    /** The pod that a controller would make of it, under a name that nobody has yet. */
    ObjectNode pod(String namespace) {
        ObjectNode pod = object.objectNode().put("apiVersion", "v1").put("kind", "Pod");
        ObjectNode metadata = pod.putObject("metadata");
        if (object.path("metadata") instanceof ObjectNode own) {
            metadata.setAll(own);
        }
        metadata.remove(List.of("name", "uid", "resourceVersion", "creationTimestamp"));
        String name = name();
        metadata.put("namespace", namespace)
                .put(
                        "generateName",
                        (name.length() < LONGEST_PREFIX
                                        ? name
                                        : name.substring(0, LONGEST_PREFIX - 1))
                                + "-");
        pod.set("spec", object.path("spec").isObject() ? object.path("spec") : object.objectNode());
        return pod;
    }

    /** Of the object that the user has written. */
    String name() {
        JsonNode metadata = manifest.object().path("metadata");
        return metadata.path("name")
                .asString(metadata.path("generateName").asString("pod").replaceFirst("-+$", ""));
    }
}
