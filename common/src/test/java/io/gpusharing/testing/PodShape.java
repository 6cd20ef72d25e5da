package io.gpusharing.testing;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What is alike in two pods that live the same life at other times: the conditions, the states of
 * the containers, who wrote which part of the object, and in which order all of that happened.
 * Generators of pods are tested against the shapes of recorded ones.
 *
 * @param parts what the object says, a line each
 * @param order its instants from the earliest to the latest; those of the same second in one line
 */
public record PodShape(List<String> parts, List<String> order) {

    public static PodShape of(RecordedLife.Version version) {
        JsonNode pod = version.pod();
        var parts = new ArrayList<String>();
        var instants = new TreeMap<String, TreeSet<String>>();
        JsonNode meta = pod.path("metadata");
        JsonNode status = pod.path("status");

        parts.add("event " + version.type());
        parts.add("node " + pod.at("/spec/nodeName").isTextual());
        parts.add("gates " + pod.at("/spec/schedulingGates").size());
        parts.add("grace " + meta.path("deletionGracePeriodSeconds").asText("none"));
        parts.add("finalizers " + meta.path("finalizers").size());
        note(instants, "created", meta.path("creationTimestamp"));
        note(instants, "deletion", meta.path("deletionTimestamp"));

        parts.add("phase " + status.path("phase").asText());
        parts.add("reason " + status.path("reason").asText("none"));
        parts.add("nominated " + status.path("nominatedNodeName").isTextual());
        parts.add("status " + names(status));
        note(instants, "startTime", status.path("startTime"));
        for (JsonNode condition : status.path("conditions")) {
            String type = condition.path("type").asText();
            parts.add(
                    "condition %s=%s %s"
                            .formatted(
                                    type,
                                    condition.path("status").asText(),
                                    condition.path("reason").asText("")));
            note(instants, type, condition.path("lastTransitionTime"));
        }
        for (String list :
                List.of(
                        "initContainerStatuses",
                        "containerStatuses",
                        "ephemeralContainerStatuses")) {
            for (JsonNode container : status.path(list)) {
                String name = container.path("name").asText();
                for (String when : List.of("state", "lastState")) {
                    for (Map.Entry<String, JsonNode> state : container.path(when).properties()) {
                        String what = name + " " + when + " " + state.getKey();
                        parts.add(
                                "container %s %s"
                                        .formatted(
                                                what, state.getValue().path("reason").asText("")));
                        note(instants, what + " started", state.getValue().path("startedAt"));
                        note(instants, what + " finished", state.getValue().path("finishedAt"));
                    }
                }
                parts.add("restarts " + name + " " + container.path("restartCount").asInt());
            }
        }
        for (JsonNode entry : meta.path("managedFields")) {
            String writer =
                    "%s %s %s"
                            .formatted(
                                    entry.path("manager").asText(),
                                    entry.path("operation").asText(),
                                    entry.path("subresource").asText("object"));
            parts.add("written by " + writer + " " + names(entry.path("fieldsV1")));
            note(instants, writer, entry.path("time"));
        }
        return new PodShape(
                parts.stream().sorted().toList(),
                instants.values().stream().map(PodShape::joined).toList());
    }

    /** The shapes of a whole life. */
    public static List<PodShape> of(RecordedLife life) {
        return life.versions().stream().map(PodShape::of).toList();
    }

    private static String joined(Collection<String> names) {
        return String.join(", ", names);
    }

    private static void note(Map<String, TreeSet<String>> instants, String name, JsonNode at) {
        if (at.isTextual()) {
            instants.computeIfAbsent(at.asText(), second -> new TreeSet<>()).add(name);
        }
    }

    private static String names(JsonNode object) {
        return object.propertyStream()
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.joining(","));
    }
}
