package io.gpusharing.webhook.template;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Where the pod templates stand in the objects that controllers make pods from. */
public final class PodTemplates {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * One sort of pods that a controller makes from an object.
     *
     * @param path to what stands for one pod: a pod template, or whatever holds its containers
     * @param containers from there to its app containers
     * @param initContainers from there to its init containers
     */
    public record Pods(
            TemplatePath path, List<TemplatePath> containers, List<TemplatePath> initContainers) {

        /** Pod templates as Kubernetes has them, with metadata and spec. */
        public static Pods template(String path) {
            return new Pods(
                    TemplatePath.parse(path),
                    List.of(TemplatePath.parse("spec.containers[*]")),
                    List.of(TemplatePath.parse("spec.initContainers[*]")));
        }
    }

    /**
     * A kind of objects.
     *
     * @param group API group, empty for the core group
     * @param pods the pods that are made from one of them
     */
    public record Kind(String group, String kind, List<Pods> pods) {

        public Kind {
            pods = List.copyOf(pods);
        }
    }

    private static final List<Kind> BUILT_IN =
            List.of(
                    usual("apps", "Deployment"),
                    usual("apps", "ReplicaSet"),
                    usual("apps", "StatefulSet"),
                    usual("apps", "DaemonSet"),
                    usual("batch", "Job"),
                    kind("batch", "CronJob", "spec.jobTemplate.spec.template"),
                    kind("", "PodTemplate", "template"),
                    usual("", "ReplicationController"));

    private final Map<String, Kind> kinds = new HashMap<>();

    /**
     * The kinds of Kubernetes itself, and those of operators that the site has named.
     *
     * @throws IllegalArgumentException if one of the site's is named twice or one of Kubernetes
     */
    public PodTemplates(Collection<Kind> more) {
        BUILT_IN.forEach(kind -> kinds.put(key(kind.group(), kind.kind()), kind));
        for (Kind kind : more) {
            if (kinds.put(key(kind.group(), kind.kind()), kind) != null) {
                throw new IllegalArgumentException(
                        "The kind %s of \"%s\" is known already; name it once"
                                .formatted(kind.kind(), kind.group()));
            }
        }
    }

    /** Whether pods are made from such objects. */
    public boolean knows(String group, String kind) {
        return kinds.containsKey(key(group, kind));
    }

    /**
     * The pods that a controller would make from the object, each as a template of metadata and
     * spec; none if the kind is not known.
     *
     * @param group API group, empty for the core group
     */
    public List<JsonNode> podsOf(String group, String kind, JsonNode object) {
        Kind known = kinds.get(key(group, kind));
        return known == null
                ? List.of()
                : known.pods().stream()
                        .flatMap(pods -> pods.path().in(object).map(pod -> template(pod, pods)))
                        .toList();
    }

    private static JsonNode template(JsonNode pod, Pods pods) {
        if (pod.path("spec").path("containers").isArray()) {
            return pod;
        }
        ObjectNode template = MAPPER.createObjectNode();
        ObjectNode spec = template.putObject("spec");
        collect(pod, pods.containers(), spec, "containers");
        collect(pod, pods.initContainers(), spec, "initContainers");
        return template;
    }

    private static void collect(
            JsonNode pod, List<TemplatePath> paths, ObjectNode spec, String field) {
        var collected = spec.putArray(field);
        for (TemplatePath path : paths) {
            path.in(pod).forEach(container -> collected.add(named(container, pod)));
        }
    }

    /** Operators name the one container of a pod themselves; ours is for who reads the answer. */
    private static JsonNode named(JsonNode container, JsonNode pod) {
        return container.has("name")
                ? container
                : ((ObjectNode) container.deepCopy()).put("name", pod.path("name").asString(""));
    }

    private static Kind usual(String group, String kind) {
        return kind(group, kind, "spec.template");
    }

    private static Kind kind(String group, String kind, String path) {
        return new Kind(group, kind, List.of(Pods.template(path)));
    }

    private static String key(String group, String kind) {
        return group + "/" + kind;
    }
}
