package io.gpusharing.recount;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the API server answered to every write that succeeded (audit level {@code RequestResponse}),
 * read once from one file of JSON lines. The last state of each pod, node and budget is kept.
 */
public final class AuditLog {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Seconds, of a pod that does not say. */
    private static final int DEFAULT_GRACE = 30;

    private final Map<String, JsonNode> pods = new LinkedHashMap<>();
    private final Map<String, Instant> begins = new HashMap<>();
    private final Map<String, JsonNode> nodes = new HashMap<>();
    private final Map<String, List<JsonNode>> shares = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, Removal> removals = new HashMap<>();
    private final Payers payers = new Payers();
    private final List<Gap> gaps = new ArrayList<>();
    private final List<String> defects = new ArrayList<>();
    private @Nullable Instant first;
    private @Nullable Instant last;

    /** A removal that happened after it was asked for, and before that was answered. */
    record Removal(Instant asked, Instant answered) {

        /** The second in which it happened; null if that can be either of two. */
        @Nullable Instant second() {
            Instant second = answered.truncatedTo(ChronoUnit.SECONDS);
            return asked.isBefore(second) ? null : second;
        }
    }

    /** A stretch of time of which the log has no entry. */
    public record Gap(Instant from, Instant to) {

        boolean touches(Instant start, Instant end) {
            return from.isBefore(end) && to.isAfter(start);
        }
    }

    /**
     * Reads a log.
     *
     * @param silence how long there may be no entry before it counts as a gap; an API server renews
     *     leases every few seconds
     */
    public static AuditLog read(Path file, Duration silence) throws IOException {
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            return read(reader, silence);
        }
    }

    /** The same from a stream that is already open. */
    public static AuditLog read(BufferedReader reader, Duration silence) throws IOException {
        var log = new AuditLog();
        int number = 0;
        String line = reader.readLine();
        while (line != null) {
            number++;
            String next = reader.readLine();
            if (!line.isBlank()) {
                log.take(line, number, next == null, silence);
            }
            line = next;
        }
        return log;
    }

    /** Last states of all pods, in the order of their first mention. */
    Map<String, JsonNode> pods() {
        return pods;
    }

    /** When a pod began to hold what it asked for; null if it never did. */
    @Nullable Instant begin(String uid) {
        return begins.get(uid);
    }

    /** When an eviction without grace removed a pod; null if none did. */
    @Nullable Removal removal(String uid) {
        return removals.get(uid);
    }

    /** The last state of a node; null if the log does not show it. */
    @Nullable JsonNode node(String name) {
        return nodes.get(name);
    }

    /** Every {@code spec.share} that a budget had, in the order of the log. */
    List<JsonNode> shares(String budget) {
        return shares.getOrDefault(budget, List.of());
    }

    /** Which budget had which namespace. */
    Payers payers() {
        return payers;
    }

    /** Stretches without any event. */
    List<Gap> gaps() {
        return gaps;
    }

    /** What is wrong with the file itself. */
    public List<String> defects() {
        return List.copyOf(defects);
    }

    /** When the first event was answered; null if there is none. */
    @Nullable Instant first() {
        return first;
    }

    /** When the last event was answered; null if there is none. */
    public @Nullable Instant last() {
        return last;
    }

    private void take(String line, int number, boolean atEnd, Duration silence) {
        JsonNode event;
        try {
            event = JSON.readTree(line);
        } catch (JacksonException e) {
            defects.add(
                    atEnd
                            ? "the log is truncated: its last line, %d, is not whole"
                                    .formatted(number)
                            : "line %d is no audit event".formatted(number));
            return;
        }
        String stamp = event.path("stageTimestamp").asString("");
        Instant at = stamp.isEmpty() ? null : Instant.parse(stamp);
        if (at != null) {
            noteTime(at, silence);
        }
        if (isDone(event)) {
            String resource = event.at("/objectRef/resource").asString("");
            JsonNode answer = event.path("responseObject");
            if (at != null && event.at("/objectRef/subresource").asString("").equals("eviction")) {
                noteEviction(event, at);
            }
            if (at != null && resource.equals("gpubudgets")) {
                payers.take(event, at);
            }
            if (answer.has("items")) {
                answer.path("items").forEach(item -> keep(resource, item));
            } else {
                keep(resource, answer);
            }
        }
    }

    private void noteTime(Instant at, Duration silence) {
        if (first == null || last == null) {
            first = at;
            last = at;
        } else if (at.isAfter(last)) {
            if (Duration.between(last, at).compareTo(silence) > 0) {
                gaps.add(new Gap(last, at));
            }
            last = at;
        }
    }

    private static boolean isDone(JsonNode event) {
        int code = event.at("/responseStatus/code").asInt(0);
        return event.path("stage").asString("").equals("ResponseComplete")
                && code >= 200
                && code < 300
                && !event.path("requestURI").asString("").contains("dryRun=")
                && !event.at("/requestObject/dryRun").isArray()
                && !event.at("/requestObject/deleteOptions/dryRun").isArray();
    }

    /** Without grace it removes the pod, and nothing else shows that: it answers with a status. */
    private void noteEviction(JsonNode event, Instant at) {
        String uid =
                names.get(
                        event.at("/objectRef/namespace").asString("")
                                + "/"
                                + event.at("/objectRef/name").asString(""));
        JsonNode pod = uid == null ? null : pods.get(uid);
        if (pod == null) {
            return;
        }
        int own = pod.at("/spec/terminationGracePeriodSeconds").asInt(DEFAULT_GRACE);
        int grace = event.at("/requestObject/deleteOptions/gracePeriodSeconds").asInt(own);
        if (grace == 0) {
            String asked = event.path("requestReceivedTimestamp").asString(at.toString());
            removals.put(uid, new Removal(Instant.parse(asked), at));
        }
    }

    private void keep(String resource, JsonNode object) {
        String uid = object.at("/metadata/uid").asString("");
        String name = object.at("/metadata/name").asString("");
        String kind = object.path("kind").asString("");
        if (uid.isEmpty()) {
            return;
        }
        // The members of a list carry no kind; answers to bindings and evictions are of another.
        switch (resource) {
            case "pods" -> {
                if (kind.isEmpty() || kind.equals("Pod")) {
                    pods.merge(uid, object, AuditLog::later);
                    names.put(object.at("/metadata/namespace").asString("") + "/" + name, uid);
                    Instant begin = begin(object);
                    if (begin != null) {
                        begins.merge(uid, begin, AuditLog::earlier);
                    }
                }
            }
            case "nodes" -> {
                if (kind.isEmpty() || kind.equals("Node")) {
                    nodes.merge(name, object, AuditLog::later);
                }
            }
            case "gpubudgets" -> {
                JsonNode share = object.at("/spec/share");
                List<JsonNode> known = shares.computeIfAbsent(name, budget -> new ArrayList<>());
                if (!known.contains(share)) {
                    known.add(share);
                }
            }
            default -> {}
        }
    }

    /** Not before its creation: of a manifest of its own a kubelet says since when it has that. */
    private static @Nullable Instant begin(JsonNode pod) {
        Instant taken = taken(pod);
        String created = pod.at("/metadata/creationTimestamp").asString("");
        return taken == null || created.isEmpty() || !taken.isBefore(Instant.parse(created))
                ? taken
                : Instant.parse(created);
    }

    /** A kubelet that rejects a pod forgets its conditions, and may write them again afterwards. */
    private static @Nullable Instant taken(JsonNode pod) {
        for (JsonNode condition : pod.at("/status/conditions")) {
            if (condition.path("type").asString("").equals("PodScheduled")
                    && condition.path("status").asString("").equals("True")) {
                return Instant.parse(condition.path("lastTransitionTime").asString());
            }
        }
        String started = pod.at("/status/startTime").asString("");
        return started.isEmpty() ? null : Instant.parse(started);
    }

    private static Instant earlier(Instant one, Instant other) {
        return other.isBefore(one) ? other : one;
    }

    /** Answers are logged when they are given, which is not always the order of the writes. */
    private static JsonNode later(JsonNode one, JsonNode other) {
        return version(other) >= version(one) ? other : one;
    }

    private static long version(JsonNode object) {
        return object.at("/metadata/resourceVersion").asLong(0);
    }
}
