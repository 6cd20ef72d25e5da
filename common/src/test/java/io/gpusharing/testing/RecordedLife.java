package io.gpusharing.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The life of one pod as a real API server and a real kubelet wrote it: every version, in the order
 * in which a watch brought them. {@code make record} makes them anew.
 *
 * @param name what happened to it, for instance {@code end-preempted/pod}
 * @param kubernetes the version of the cluster it was recorded on
 */
public record RecordedLife(String name, String kubernetes, List<Version> versions) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path FOLDER = Path.of("../e2e/src/test/resources/recorded");
    private static final List<RecordedLife> ALL = readAll();

    /**
     * One event of the watch.
     *
     * @param at when it arrived
     * @param type {@code ADDED}, {@code MODIFIED}, {@code DELETED}, or {@code LISTED} after a watch
     *     that could not go on
     */
    public record Version(Instant at, String type, JsonNode pod) {

        public boolean removed() {
            return type.equals("DELETED");
        }
    }

    /** Every recorded pod that asked for GPUs, of every recorded version of Kubernetes. */
    public static List<RecordedLife> all() {
        return ALL;
    }

    private static List<RecordedLife> readAll() {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            return files.filter(file -> file.endsWith("watch.jsonl"))
                    .sorted()
                    .flatMap(file -> read(file).stream())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * One of them.
     *
     * @throws IllegalArgumentException if none is called so
     */
    public static RecordedLife named(String name) {
        return all().stream()
                .filter(life -> life.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No recording of " + name));
    }

    /**
     * The audit log of the pods of this recording, a line each. The recording stores each object of
     * the watch once; here it is inserted again where the API server logged it.
     */
    public String auditLog() {
        Path folder = FOLDER.resolve(kubernetes).resolve(name.replaceFirst("/.*", ""));
        var byVersion = new HashMap<String, JsonNode>();
        var log = new StringBuilder();
        try {
            for (String line : Files.readAllLines(folder.resolve("watch.jsonl"))) {
                JsonNode pod = JSON.readTree(line).path("object");
                byVersion.put(pod.at("/metadata/resourceVersion").asText(), pod);
            }
            for (String line : Files.readAllLines(folder.resolve("audit.jsonl"))) {
                var event = (ObjectNode) JSON.readTree(line);
                JsonNode pod =
                        byVersion.get(
                                event.at("/responseObject/metadata/resourceVersion").asText());
                if (pod != null) {
                    event.set("responseObject", pod);
                }
                log.append(event).append('\n');
            }
            return log.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How the pod looked when it was last seen. */
    public Version last() {
        return versions.getLast();
    }

    @Override
    public String toString() {
        return name;
    }

    private static List<RecordedLife> read(Path file) {
        Path below = FOLDER.relativize(file);
        var pods = new LinkedHashMap<String, List<Version>>();
        try {
            for (String line : Files.readAllLines(file)) {
                JsonNode event = JSON.readTree(line);
                var version =
                        new Version(
                                Instant.parse(event.path("at").asText()),
                                event.path("type").asText(),
                                event.path("object"));
                pods.computeIfAbsent(
                                version.pod().at("/metadata/name").asText(),
                                name -> new ArrayList<>())
                        .add(version);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var lives = new ArrayList<RecordedLife>();
        for (Map.Entry<String, List<Version>> pod : pods.entrySet()) {
            lives.add(
                    new RecordedLife(
                            below.getName(1) + "/" + pod.getKey(),
                            below.getName(0).toString(),
                            List.copyOf(pod.getValue())));
        }
        return lives;
    }
}
