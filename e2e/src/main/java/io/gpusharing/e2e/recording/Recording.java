package io.gpusharing.e2e.recording;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One life on disk, a folder of three files: {@code life.yaml} says what was done, {@code
 * watch.jsonl} has every version as it came, {@code audit.jsonl} every write that the API server
 * was asked for. An answer that the watch has, too, is not repeated there: its {@code
 * resourceVersion} stands in its place.
 */
record Recording(Life life, String kubernetes, List<Version> versions, List<JsonNode> audit) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Takes what concerns a life from what was recorded and from the whole audit log. */
    static Recording of(Life life, String kubernetes, List<Version> versions, Path auditLog) {
        Set<String> uids = versions.stream().map(Version::uid).collect(Collectors.toSet());
        Set<String> names =
                versions.stream()
                        .map(it -> it.pod().at("/metadata/namespace").asText() + "/" + it.name())
                        .collect(Collectors.toSet());
        Set<String> known =
                versions.stream().map(Version::resourceVersion).collect(Collectors.toSet());
        try (Stream<String> lines = Files.lines(auditLog)) {
            var audit = new ArrayList<JsonNode>();
            for (String line : (Iterable<String>) lines::iterator) {
                JsonNode event = JSON.readTree(line);
                JsonNode object = event.path("objectRef");
                if (object.path("resource").asText().equals("pods")
                        && (uids.contains(object.path("uid").asText())
                                || uids.contains(event.at("/responseObject/metadata/uid").asText())
                                || names.contains(
                                        object.path("namespace").asText()
                                                + "/"
                                                + object.path("name").asText()))) {
                    audit.add(withoutWhatTheWatchHas(event, known));
                }
            }
            return new Recording(life, kubernetes, versions, audit);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode withoutWhatTheWatchHas(JsonNode event, Set<String> known) {
        JsonNode answer = event.path("responseObject");
        String version = answer.at("/metadata/resourceVersion").asText();
        if (known.contains(version)) {
            ((ObjectNode) event)
                    .putObject("responseObject")
                    .putObject("metadata")
                    .put("resourceVersion", version);
        }
        return event;
    }

    /** Writes it below a folder, in place of an earlier one of the same life. */
    void write(Path folder) {
        Path here = folder.resolve(kubernetes).resolve(life.name());
        try {
            Files.createDirectories(here);
            Files.writeString(
                    here.resolve("life.yaml"),
                    """
                    kubernetes: %s
                    did: %s
                    """
                            .formatted(kubernetes, life.did()));
            Files.write(
                    here.resolve("watch.jsonl"), versions.stream().map(Recording::line).toList());
            Files.write(
                    here.resolve("audit.jsonl"), audit.stream().map(JsonNode::toString).toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String line(Version version) {
        ObjectNode line = JSON.createObjectNode();
        line.put("at", version.at().toString());
        line.put("type", version.type());
        line.set("object", version.pod());
        return line.toString();
    }
}
