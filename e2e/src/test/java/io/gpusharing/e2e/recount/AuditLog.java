package io.gpusharing.e2e.recount;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What the API server answered to every write that succeeded, in the order of its log. */
final class AuditLog {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<JsonNode> events;

    private AuditLog(List<JsonNode> events) {
        this.events = events;
    }

    static AuditLog read(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return new AuditLog(lines.map(AuditLog::parse).filter(AuditLog::isDone).toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Every state of a pod that somebody was answered with, the one before its removal included.
     */
    List<JsonNode> pods() {
        return answers("pods", "Pod");
    }

    /** Every state of a node. */
    List<JsonNode> nodes() {
        return answers("nodes", "Node");
    }

    private List<JsonNode> answers(String resource, String kind) {
        return events.stream()
                .filter(event -> event.at("/objectRef/resource").asText().equals(resource))
                .map(event -> event.path("responseObject"))
                .flatMap(AuditLog::members)
                .filter(object -> object.path("metadata").has("uid"))
                // The members of a list carry no kind; answers to bindings and evictions are of
                // another.
                .filter(object -> object.path("kind").asText(kind).equals(kind))
                .toList();
    }

    private static Stream<JsonNode> members(JsonNode answer) {
        return answer.has("items") ? answer.path("items").valueStream() : Stream.of(answer);
    }

    private static boolean isDone(JsonNode event) {
        int code = event.at("/responseStatus/code").asInt();
        return event.path("stage").asText().equals("ResponseComplete")
                && code >= 200
                && code < 300
                && !event.path("requestURI").asText().contains("dryRun=")
                && event.at("/requestObject/dryRun").isEmpty();
    }

    private static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException("Not an audit event: " + line, e);
        }
    }
}
