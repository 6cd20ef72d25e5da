package io.gpusharing.recount;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Removals of pods that no state of the pod shows: by an eviction, which is answered with a status,
 * by the deletion of all pods of a namespace, which is answered with the pods as they were before,
 * and by a deletion of which the log does not contain the answer.
 */
final class Removals {

    /** Seconds, of a pod that does not say. */
    private static final int DEFAULT_GRACE = 30;

    private final Map<String, Removal> certain = new HashMap<>();

    /** By the pod's namespace and name; by the namespace alone where all of its pods are meant. */
    private final Map<String, List<Removal>> possible = new HashMap<>();

    /** A removal that happened after it was asked for, and before that was answered. */
    record Removal(Instant asked, Instant answered) {

        static Removal by(JsonNode event, Instant answered) {
            Instant asked = Times.read(event.path("requestReceivedTimestamp"));
            return new Removal(asked == null ? answered : asked, answered);
        }

        /** The first second in which it can have happened. */
        Instant first() {
            return asked.truncatedTo(ChronoUnit.SECONDS);
        }

        /** The last second in which it can have happened. */
        Instant last() {
            return answered.truncatedTo(ChronoUnit.SECONDS);
        }

        boolean canBeAt(Instant second) {
            return !second.isBefore(first()) && !second.isAfter(last());
        }
    }

    /** The last state of a pod that the log has shown so far. */
    @FunctionalInterface
    interface Pods {
        @Nullable JsonNode named(String namespace, String name);
    }

    /** Takes what the API server answered with a code to a request about pods. */
    void take(JsonNode event, int code, Instant at, Pods pods) {
        JsonNode object = event.path("objectRef");
        String namespace = object.path("namespace").asString("");
        String name = object.path("name").asString("");
        String verb = event.path("verb").asString("");
        JsonNode answer = event.path("responseObject");
        boolean done = code >= 200 && code < 300;
        if (verb.equals("deletecollection") && done && answer.has("items")) {
            answer.path("items").forEach(pod -> note(event, pod, at));
        } else if (verb.equals("deletecollection") && (done || code >= 500)) {
            // One that fails has removed those that came first.
            noteUnanswered(namespace, event, at);
        } else if (verb.equals("delete") && done && answer.isEmpty()) {
            noteUnanswered(namespace + "/" + name, event, at);
        } else if (done && isEviction(event)) {
            JsonNode pod = pods.named(namespace, name);
            if (pod != null) {
                note(event, pod, at);
            }
        }
    }

    /** With grace left, the pod's kubelet will ask again, and be answered with the pod. */
    private void note(JsonNode event, JsonNode pod, Instant at) {
        if (grace(event, pod) == 0) {
            certain.putIfAbsent(pod.at("/metadata/uid").asString(""), Removal.by(event, at));
        }
    }

    private void noteUnanswered(String which, JsonNode event, Instant at) {
        possible.computeIfAbsent(which, pods -> new ArrayList<>()).add(Removal.by(event, at));
    }

    /** The removal that the log shows of a pod; null if it shows none. */
    @Nullable Removal of(String uid) {
        return certain.get(uid);
    }

    /** The deletions that may have removed a pod that was placed by then. */
    List<Removal> possible(String namespace, String name, Instant placed) {
        var all = new ArrayList<>(possible.getOrDefault(namespace, List.of()));
        all.addAll(possible.getOrDefault(namespace + "/" + name, List.of()));
        all.removeIf(it -> it.last().isBefore(placed));
        return all;
    }

    static boolean isEviction(JsonNode event) {
        return event.at("/objectRef/subresource").asString("").equals("eviction");
    }

    private static long grace(JsonNode event, JsonNode pod) {
        long own = pod.at("/spec/terminationGracePeriodSeconds").asLong(DEFAULT_GRACE);
        long inAddress =
                Query.of(event)
                        .values("gracePeriodSeconds")
                        .findFirst()
                        // Of an eviction the API server reads its object alone.
                        .filter(it -> !isEviction(event) && it.matches("\\d{1,18}"))
                        .map(Long::valueOf)
                        .orElse(own);
        JsonNode request = event.path("requestObject");
        JsonNode options = request.has("deleteOptions") ? request.path("deleteOptions") : request;
        return options.path("gracePeriodSeconds").asLong(inAddress);
    }
}
