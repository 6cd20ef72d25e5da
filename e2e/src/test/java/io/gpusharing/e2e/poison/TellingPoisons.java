package io.gpusharing.e2e.poison;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gpusharing.e2e.poison.Poison.Author;
import io.gpusharing.e2e.poison.Poison.Change;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The poisons that were thought of, from {@code telling.yaml}. */
final class TellingPoisons {

    /** The namespace of all that names none. */
    static final String NAMESPACE = "poisoned";

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private TellingPoisons() {}

    static List<Poison> all() {
        try (var file =
                        Objects.requireNonNull(
                                TellingPoisons.class.getResourceAsStream("telling.yaml"));
                var documents = YAML.readerFor(ObjectNode.class).<ObjectNode>readValues(file)) {
            var poisons = new ArrayList<Poison>();
            while (documents.hasNextValue()) {
                poisons.add(poison(documents.nextValue(), poisons.size()));
            }
            return List.copyOf(poisons);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Poison poison(ObjectNode document, int number) throws IOException {
        Author by = Author.of(document.path("by").asText("tenant"));
        ObjectNode object = completed((ObjectNode) expanded(document.path("object")), number);
        var then = new ArrayList<Change>();
        for (JsonNode change : document.path("then")) {
            then.add(
                    new Change(
                            change.has("by") ? Author.of(change.path("by").asText()) : by,
                            change.path("to").asText(),
                            changed(object, (ObjectNode) expanded(change.path("body")))));
        }
        return new Poison(document.path("name").asText(), by, object, List.copyOf(then));
    }

    /** With all that every object has. */
    private static ObjectNode completed(ObjectNode object, int number) throws IOException {
        putIfAbsent(object, "apiVersion", "v1");
        putIfAbsent(object, "kind", "Pod");
        ObjectNode metadata = object.withObject("/metadata");
        putIfAbsent(metadata, "name", "poison-" + number);
        if (!Poison.isClusterScoped(object.path("kind").asText())) {
            putIfAbsent(metadata, "namespace", NAMESPACE);
        }
        if (object.path("kind").asText().equals("Pod")) {
            ObjectNode spec = object.withObject("/spec");
            if (!spec.has("containers")) {
                spec.set("containers", YAML.readTree("[{name: c, image: i}]"));
            }
            if (!spec.has("nodeName") && !spec.has("nodeSelector")) {
                spec.putObject("nodeSelector").put("poison", "none");
            }
        }
        return object;
    }

    private static void putIfAbsent(ObjectNode object, String field, String text) {
        if (!object.has(field)) {
            object.put(field, text);
        }
    }

    /** A binding names its pod. */
    private static ObjectNode changed(ObjectNode object, ObjectNode body) {
        if (body.has("target")) {
            body.put("apiVersion", "v1").put("kind", "Binding");
            body.withObject("/metadata").set("name", object.at("/metadata/name"));
        }
        return body;
    }

    private static JsonNode expanded(JsonNode node) throws IOException {
        return switch (node) {
            case ObjectNode object -> {
                ObjectNode copy = NODES.objectNode();
                for (var field : object.properties()) {
                    copy.set(field.getKey(), expanded(field.getValue()));
                }
                yield copy;
            }
            case ArrayNode array -> {
                ArrayNode copy = NODES.arrayNode();
                for (JsonNode entry : array) {
                    copy.add(expanded(entry));
                }
                yield copy;
            }
            default ->
                    node.isTextual() && node.asText().startsWith("$")
                            ? abbreviated(node.asText().split(" ", 3))
                            : node;
        };
    }

    private static JsonNode abbreviated(String[] words) throws IOException {
        int count = Integer.parseInt(words[1]);
        return switch (words[0]) {
            case "$repeat" -> NODES.textNode(words[2].repeat(count));
            case "$keys" -> {
                ObjectNode keys = NODES.objectNode();
                for (int i = 0; i < count; i++) {
                    keys.put("example.com/k" + i, "1");
                }
                yield keys;
            }
            // Jackson writes no nest so deep.
            case "$deep" ->
                    NODES.rawValueNode(
                            new RawValue("{\"f:a\":".repeat(count) + "{}" + "}".repeat(count)));
            case "$copies" -> {
                ArrayNode copies = NODES.arrayNode();
                for (int i = 0; i < count; i++) {
                    copies.add(expanded(YAML.readTree(words[2].replace("%d", "" + i))));
                }
                yield copies;
            }
            default -> throw new IllegalArgumentException(String.join(" ", words));
        };
    }
}
