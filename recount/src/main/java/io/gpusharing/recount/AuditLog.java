package io.gpusharing.recount;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the API server answered to every write that succeeded (audit level {@code RequestResponse}),
 * read once from one file of JSON lines. The last state of each pod, node and budget is kept.
 */
public final class AuditLog {

    /** An API server logs what it stores, and that is nested deeper than Jackson would read. */
    private static final JsonMapper JSON =
            JsonMapper.builder(
                            JsonFactory.builder()
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNestingDepth(Integer.MAX_VALUE)
                                                    .maxNameLength(Integer.MAX_VALUE)
                                                    .maxNumberLength(Integer.MAX_VALUE)
                                                    .maxStringLength(Integer.MAX_VALUE)
                                                    .build())
                                    .build())
                    .build();

    private final Map<String, JsonNode> pods = new LinkedHashMap<>();
    private final Map<String, Instant> begins = new HashMap<>();
    private final Map<String, JsonNode> nodes = new HashMap<>();
    private final Map<String, Map<String, BigDecimal>> gpus = new HashMap<>();
    private final Map<String, List<JsonNode>> shares = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, String> unreadable = new HashMap<>();
    private final Removals removals = new Removals();
    private final Payers payers = new Payers();
    private final List<Gap> gaps = new ArrayList<>();
    private final List<String> defects = new ArrayList<>();
    private @Nullable Instant first;
    private @Nullable Instant last;

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
        // Unlike Files.newBufferedReader this goes on behind bytes that are no text.
        try (var reader =
                new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8)) {
            return read(new BufferedReader(reader), silence);
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

    /** What is wrong with a state of a pod that cannot be read; null if all can. */
    @Nullable String unreadable(String uid) {
        return unreadable.get(uid);
    }

    /** What removed pods without showing it. */
    Removals removals() {
        return removals;
    }

    /** The last state of a node; null if the log does not show it. */
    @Nullable JsonNode node(String name) {
        return nodes.get(name);
    }

    /** MiB of the GPUs that a node had, by UUID; null if the log does not show its GpuNode. */
    @Nullable Map<String, BigDecimal> gpus(String node) {
        return gpus.get(node);
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
        try {
            take(event, silence);
        } catch (RuntimeException e) {
            defects.add("line %d could not be read: %s".formatted(number, e.getMessage()));
        }
    }

    private void take(JsonNode event, Duration silence) {
        Instant at = Times.read(event.path("stageTimestamp"));
        if (at == null) {
            throw new IllegalArgumentException("it has no stageTimestamp");
        }
        noteTime(at, silence);
        String resource = event.at("/objectRef/resource").asString("");
        int code = event.at("/responseStatus/code").asInt(0);
        if (isForGood(event) && resource.equals("pods")) {
            removals.take(event, code, at, this::pod);
        }
        if (isForGood(event) && code >= 200 && code < 300) {
            JsonNode answer = event.path("responseObject");
            if (resource.equals("gpubudgets")) {
                payers.take(event, at);
            }
            for (JsonNode object : answer.has("items") ? answer.path("items") : List.of(answer)) {
                keep(resource, object);
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

    private static boolean isForGood(JsonNode event) {
        return event.path("stage").asString("").equals("ResponseComplete")
                && Query.of(event).values("dryRun").noneMatch("All"::equals)
                && !(event.path("verb").asString("").startsWith("delete")
                        && event.at("/requestObject/dryRun").isArray())
                && !(Removals.isEviction(event)
                        && event.at("/requestObject/deleteOptions/dryRun").isArray());
    }

    private @Nullable JsonNode pod(String namespace, String name) {
        return pods.get(names.getOrDefault(namespace + "/" + name, ""));
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
                    noteBegin(uid, object);
                }
            }
            case "nodes" -> {
                if (kind.isEmpty() || kind.equals("Node")) {
                    nodes.merge(name, object, AuditLog::later);
                }
            }
            case "gpunodes" -> {
                for (JsonNode gpu : object.at("/status/gpus")) {
                    gpus.computeIfAbsent(name, node -> new HashMap<>())
                            .put(gpu.path("uuid").asString(""), Amounts.of(gpu, "memoryMiB"));
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

    private void noteBegin(String uid, JsonNode pod) {
        try {
            Instant begin = begin(pod);
            if (begin != null) {
                begins.merge(uid, begin, AuditLog::earlier);
            }
        } catch (RuntimeException e) {
            unreadable.putIfAbsent(uid, String.valueOf(e.getMessage()));
        }
    }

    /** Not before its creation: of a manifest of its own a kubelet says since when it has that. */
    private static @Nullable Instant begin(JsonNode pod) {
        Instant taken = taken(pod);
        Instant created = Times.read(pod.at("/metadata/creationTimestamp"));
        return taken == null || created == null || !taken.isBefore(created) ? taken : created;
    }

    /** A kubelet that rejects a pod forgets its conditions, and may write them again afterwards. */
    private static @Nullable Instant taken(JsonNode pod) {
        for (JsonNode condition : pod.at("/status/conditions")) {
            if (condition.path("type").asString("").equals("PodScheduled")
                    && condition.path("status").asString("").equals("True")) {
                Instant since = Times.read(condition.path("lastTransitionTime"));
                if (since != null) {
                    return since;
                }
            }
        }
        return Times.read(pod.at("/status/startTime"));
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
