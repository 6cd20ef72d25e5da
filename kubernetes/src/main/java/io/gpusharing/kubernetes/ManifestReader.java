package io.gpusharing.kubernetes;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.Names;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Violation;
import io.gpusharing.request.grammar.RequestGrammars;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;

/**
 * Reads the manifest of a pod, or of a workload for the pods that are made from its template, in
 * JSON or YAML.
 */
public final class ManifestReader {

    /** Where the template stands in each kind. */
    private static final Map<String, List<String>> TEMPLATES =
            Map.of(
                    "Deployment", List.of("spec", "template"),
                    "ReplicaSet", List.of("spec", "template"),
                    "StatefulSet", List.of("spec", "template"),
                    "DaemonSet", List.of("spec", "template"),
                    "Job", List.of("spec", "template"),
                    "ReplicationController", List.of("spec", "template"),
                    "PodTemplate", List.of("template"),
                    "CronJob", List.of("spec", "jobTemplate", "spec", "template"));

    private static final String KINDS =
            "Pod, or " + TEMPLATES.keySet().stream().sorted().collect(Collectors.joining(", "));

    private static final String NOT_SET = "not set";

    /** Keys and values; more than 128 KiB hold of what a pod has. */
    private static final int MOST_VALUES = 40_000;

    private final KubernetesSerialization serialization = new KubernetesSerialization();
    private final RequestGrammars grammars;

    public ManifestReader(RequestGrammars grammars) {
        this.grammars = grammars;
    }

    /** A manifest is none, or nobody could make the pod from it. The message says what to write. */
    public static final class ManifestException extends Exception {

        private static final long serialVersionUID = 1;

        ManifestException(String message) {
            super(message);
        }
    }

    /**
     * The pod, as if it had been created now.
     *
     * @param namespace where it would be
     * @param budget which pays there, as admission writes it on the pod; null if none does
     */
    public Pod read(String text, String namespace, @Nullable String budget, Instant now)
            throws ManifestException {
        Map<?, ?> object = object(text);
        Object kind = object.get("kind");
        Object own;
        String where;
        if ("Pod".equals(kind)) {
            own = object;
            where = "";
        } else {
            List<String> path = kind == null ? null : TEMPLATES.get(kind.toString());
            if (path == null) {
                throw new ManifestException(
                        "kind is %s; use %s".formatted(kind == null ? NOT_SET : kind, KINDS));
            }
            own = at(object, path);
            where = String.join(".", path) + ".";
        }
        Pod pod = pod(own, where);
        requireContainers(pod.getSpec(), where);
        requireNamespace(at(object, List.of("metadata", "namespace")), namespace);
        requireLegal(pod.getSpec(), where);
        Pod created = created(pod, at(object, List.of("metadata", "name")), namespace, now);
        created.getMetadata().setAnnotations(admitted(created.getMetadata(), budget));
        return created;
    }

    /** The object that a manifest is, in maps and lists. */
    public Map<?, ?> object(String text) throws ManifestException {
        try {
            requireFinite(text);
            if (serialization.unmarshal(text, Object.class) instanceof Map<?, ?> map) {
                return (Map<?, ?>) withoutNulls(map);
            }
        } catch (StackOverflowError e) {
            throw new ManifestException("The manifest is nested too deeply");
        } catch (ClassCastException e) {
            // The serialization takes several for typed ones.
            throw new ManifestException(
                    "The manifest has several documents; ask about one of them");
        } catch (RuntimeException e) {
            // Each of the parsers below has its own kind.
            throw new ManifestException("The manifest is neither JSON nor YAML: " + cause(e));
        }
        throw new ManifestException(
                "The manifest is no object with apiVersion, kind, metadata and spec");
    }

    /**
     * A few YAML aliases can stand for more than any memory holds, or for themselves, and who reads
     * them writes them out. Whatever begins with a brace or a bracket, by its bytes, is read as
     * JSON, without any.
     */
    private static void requireFinite(String text) throws ManifestException {
        int first =
                text.chars()
                        .filter(it -> it > 127 || !Character.isWhitespace(it))
                        .findFirst()
                        .orElse(' ');
        if (first == '{' || first == '[') {
            return;
        }
        var sizes = new HashMap<Anchor, Integer>();
        var open = new ArrayDeque<Collected>();
        int seen = 0;
        for (Event event : new Parse(LoadSettings.builder().build()).parseString(text)) {
            switch (event) {
                case AliasEvent alias -> seen += sizes.getOrDefault(alias.getAlias(), MOST_VALUES);
                case CollectionStartEvent start -> {
                    start.getAnchor().ifPresent(sizes::remove);
                    open.push(new Collected(start.getAnchor(), seen));
                    seen++;
                }
                case CollectionEndEvent _ -> {
                    Collected ended = open.pop();
                    int size = seen - ended.before();
                    ended.anchor().ifPresent(it -> sizes.put(it, size));
                }
                case ScalarEvent scalar -> {
                    scalar.getAnchor().ifPresent(it -> sizes.put(it, 1));
                    seen++;
                }
                default -> {}
            }
            if (seen > MOST_VALUES) {
                throw new ManifestException(
                        "The manifest has more than %d keys and values, counting what its aliases stand for"
                                .formatted(MOST_VALUES));
            }
        }
    }

    /**
     * A list or map that is being read.
     *
     * @param before how many values came before it
     */
    private record Collected(Optional<Anchor> anchor, int before) {}

    /** As the API server takes them: what is null is left out. */
    private static Object withoutNulls(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                var some = new LinkedHashMap<Object, Object>();
                map.forEach((key, inner) -> {
                    if (inner != null) {
                        some.put(key, withoutNulls(inner));
                    }
                });
                yield some;
            }
            case Collection<?> list ->
                    list.stream().filter(Objects::nonNull).map(it -> withoutNulls(it)).toList();
            default -> value;
        };
    }

    private Pod pod(@Nullable Object object, String where) throws ManifestException {
        if (!(object instanceof Map<?, ?> map)) {
            throw new ManifestException(where + "spec is missing; a pod has spec.containers");
        }
        try {
            Pod pod =
                    serialization.convertValue(
                            Map.of(
                                    "spec",
                                    map.get("spec") == null ? Map.of() : map.get("spec"),
                                    "metadata",
                                    map.get("metadata") == null ? Map.of() : map.get("metadata")),
                            Pod.class);
            pod.setMetadata(pod.getMetadata() == null ? new ObjectMeta() : pod.getMetadata());
            return pod;
        } catch (RuntimeException e) {
            throw new ManifestException(where + "spec cannot be read: " + cause(e));
        }
    }

    private static void requireContainers(PodSpec spec, String where) throws ManifestException {
        if (spec.getContainers().isEmpty()) {
            throw new ManifestException(
                    where + "spec.containers is empty; a pod has one container at least");
        }
        for (Container container : spec.getContainers()) {
            if (container.getName() == null) {
                throw new ManifestException(
                        where + "spec.containers: a container has no name; each has one");
            }
        }
    }

    private static void requireNamespace(@Nullable Object found, String namespace)
            throws ManifestException {
        if (found != null && !found.equals(namespace)) {
            throw new ManifestException(
                    "metadata.namespace is %s; use %s, for which you ask, or leave it out"
                            .formatted(found, namespace));
        }
    }

    private void requireLegal(PodSpec spec, String where) throws ManifestException {
        Verdict verdict;
        try {
            verdict = grammars.judge(ResourceReader.request(spec, grammars::reads));
            requireQuantities(spec);
        } catch (IllegalArgumentException e) {
            throw new ManifestException(
                    "%sspec.containers: resources: %s; use a number such as 50"
                            .formatted(where, e.getMessage()));
        }
        // What is left out the webhook may write: a site can have a default for it.
        if (verdict instanceof Verdict.Illegal illegal
                && illegal.violations().stream().anyMatch(it -> !it.found().equals(NOT_SET))) {
            throw new ManifestException(
                    illegal.violations().stream()
                            .map(Violation::message)
                            .map(message -> where + "spec.containers: " + message)
                            .collect(Collectors.joining("; ")));
        }
    }

    /** What is no GPU is read, too, when room for it is looked for. */
    private static void requireQuantities(PodSpec spec) {
        Stream<ResourceRequirements> all =
                Stream.concat(
                        Stream.of(spec.getContainers(), spec.getInitContainers())
                                .flatMap(List::stream)
                                .map(Container::getResources),
                        Stream.ofNullable(spec.getResources()));
        Stream.concat(
                        all.filter(Objects::nonNull)
                                .flatMap(it -> Stream.of(it.getLimits(), it.getRequests())),
                        Stream.ofNullable(spec.getOverhead()))
                .filter(Objects::nonNull)
                .forEach(amounts -> amounts.forEach(ManifestReader::requireQuantity));
    }

    private static void requireQuantity(String resource, Quantity amount) {
        try {
            ResourceReader.amount(amount);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("%s is %s".formatted(resource, amount), e);
        }
    }

    private static Pod created(Pod pod, @Nullable Object name, String namespace, Instant now) {
        ObjectMeta metadata = pod.getMetadata();
        metadata.setNamespace(namespace);
        metadata.setName(name == null ? "" : name.toString());
        metadata.setUid(UUID.randomUUID().toString());
        metadata.setCreationTimestamp(now.toString());
        metadata.setOwnerReferences(List.of());
        metadata.setManagedFields(List.of());
        metadata.setDeletionTimestamp(null);
        pod.getSpec().setNodeName(null);
        // Admission writes it, by the priority class.
        pod.getSpec().setPriority(null);
        pod.setStatus(new PodStatus());
        return pod;
    }

    private static Map<String, String> admitted(ObjectMeta metadata, @Nullable String budget) {
        var annotations =
                new HashMap<String, String>(
                        requireNonNullElse(metadata.getAnnotations(), Map.of()));
        annotations.remove(Names.BUDGET_ANNOTATION);
        if (budget != null) {
            annotations.put(Names.BUDGET_ANNOTATION, budget);
        }
        return annotations;
    }

    private static @Nullable Object at(Object object, List<String> path) {
        Object here = object;
        for (String name : path) {
            here = here instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return here;
    }

    /** What a parser says and where, without the rest that it quotes. */
    private static String cause(Throwable e) {
        Throwable last = e;
        while (last.getCause() != null) {
            last = last.getCause();
        }
        String message = String.valueOf(last.getMessage());
        return message.lines()
                .limit(2)
                .map(String::strip)
                .collect(Collectors.joining(" "))
                .replaceFirst(":$", "");
    }
}
