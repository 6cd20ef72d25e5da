package io.gpusharing.e2e.poison;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What our services ask the API server for since some moment, by its audit log. */
final class AskedOfTheApiServer {

    private static final String OURS = "\"username\":\"system:serviceaccount:gpusharing-system:";
    private static final Duration SHORTEST = Duration.ofMinutes(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final TestCluster cluster;
    private final Instant since = Instant.now();
    private final long begin;

    private AskedOfTheApiServer(TestCluster cluster, long begin) {
        this.cluster = cluster;
        this.begin = begin;
    }

    static AskedOfTheApiServer fromNowOn(TestCluster cluster) {
        try {
            return new AskedOfTheApiServer(cluster, Files.size(cluster.auditLog()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * How often each watch was cut short, which is how often it began anew. The clients end each by
     * themselves after five to ten minutes.
     */
    Map<String, Long> watchesCutShort() {
        return counts("watch", AskedOfTheApiServer::isCutShort);
    }

    /** How often each list was asked for; pages of one are one. */
    Map<String, Long> lists() {
        return counts("list", request -> true);
    }

    long seconds() {
        return Math.max(1, Duration.between(since, Instant.now()).toSeconds());
    }

    private static boolean isCutShort(JsonNode watch) {
        return Duration.between(at(watch, "requestReceivedTimestamp"), at(watch, "stageTimestamp"))
                        .compareTo(SHORTEST)
                < 0;
    }

    private static Instant at(JsonNode request, String field) {
        return Instant.parse(request.path(field).asText());
    }

    private Map<String, Long> counts(String verb, Predicate<JsonNode> counted) {
        String wanted = "\"verb\":\"%s\"".formatted(verb);
        try (var log = FileChannel.open(cluster.auditLog()).position(begin);
                var lines =
                        new BufferedReader(
                                new InputStreamReader(
                                        Channels.newInputStream(log), StandardCharsets.UTF_8))) {
            return lines.lines()
                    .filter(line -> line.contains(wanted) && line.contains(OURS))
                    .map(AskedOfTheApiServer::parsed)
                    .filter(it -> !it.path("requestURI").asText().contains("continue="))
                    .filter(counted)
                    .collect(
                            Collectors.groupingBy(
                                    AskedOfTheApiServer::what,
                                    TreeMap::new,
                                    Collectors.counting()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Who asks, and for what; without the position. */
    private static String what(JsonNode request) {
        String user = request.at("/user/username").asText();
        return user.substring(user.lastIndexOf(':') + 1)
                + " "
                + request.path("requestURI")
                        .asText()
                        .replaceAll(
                                "[?&](resourceVersion|timeoutSeconds|allowWatchBookmarks|limit|watch|resourceVersionMatch|timeout)=[^&]*",
                                "");
    }

    private static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException(line, e);
        }
    }
}
