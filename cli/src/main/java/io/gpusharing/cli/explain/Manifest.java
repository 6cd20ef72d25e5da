package io.gpusharing.cli.explain;

import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.Replicas;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * An object of a file that the user has written. What is wrong with it is a {@link Failure}.
 *
 * @param where it stands, for instance {@code jobs.yaml: document 2}
 */
record Manifest(String where, ObjectNode object) {

    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Aliases of lists and maps, each of which may stand for others that stand for others: so many
     * make a text forty times as long at most, some more than memory holds.
     */
    private static final int MOST_ALIASES = 10;

    /**
     * Reads the objects of a file, those of lists one by one.
     *
     * @param file {@code -} is standard input
     */
    static List<Manifest> read(Path file) {
        var manifests = new ArrayList<Manifest>();
        int number = 0;
        for (JsonNode document : documents(file)) {
            number++;
            // As kubectl: between two lines of dashes there may be comments alone.
            if (!document.isNull()) {
                objects("%s: document %d".formatted(file, number), document, manifests);
            }
        }
        if (manifests.isEmpty()) {
            throw new Failure(file + ": there is no object in it");
        }
        return manifests;
    }

    private static void objects(String where, JsonNode document, List<Manifest> into) {
        if (!(document instanceof ObjectNode object)) {
            throw new Failure(where + " is no object with apiVersion, kind, metadata and spec");
        }
        JsonNode items = object.path("items");
        if (!object.path("kind").asString("").endsWith("List") || !items.isArray()) {
            into.add(new Manifest(where, object));
            return;
        }
        for (int i = 0; i < items.size(); i++) {
            objects("%s, item %d".formatted(where, i + 1), items.get(i), into);
        }
    }

    private static List<JsonNode> documents(Path file) {
        String text = text(file);
        if (text.stripLeading().startsWith("{")) {
            try {
                return List.of(JSON.readTree(text));
            } catch (JacksonException e) {
                // YAML has such maps, too, and says better what is wrong.
            }
        }
        var documents = new ArrayList<JsonNode>();
        try {
            LoadSettings settings =
                    LoadSettings.builder().setMaxAliasesForCollections(MOST_ALIASES).build();
            Iterator<Object> found = new Load(settings).loadAllFromString(text).iterator();
            while (found.hasNext()) {
                documents.add(JSON.readTree(JSON.writeValueAsString(found.next())));
            }
            return documents;
        } catch (YamlEngineException | JacksonException e) {
            throw new Failure(
                    "%s: document %d is neither JSON nor YAML: %s"
                            .formatted(file, documents.size() + 1, problem(e)));
        } catch (StackOverflowError e) {
            throw new Failure(
                    "%s: document %d is nested too deeply".formatted(file, documents.size() + 1));
        }
    }

    /** What a parser says and where, without the text that it quotes. */
    private static String problem(RuntimeException e) {
        if (e instanceof MarkedYamlEngineException marked && marked.getProblemMark().isPresent()) {
            return "%s in line %d"
                    .formatted(marked.getProblem(), marked.getProblemMark().get().getLine() + 1);
        }
        return String.valueOf(
                e instanceof JacksonException json ? json.getOriginalMessage() : e.getMessage());
    }

    private static String text(Path file) {
        try {
            return file.toString().equals("-")
                    ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                    : Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new Failure("There is no file %s".formatted(file));
        } catch (AccessDeniedException e) {
            throw new Failure("You may not read the file %s".formatted(file));
        } catch (CharacterCodingException e) {
            throw new Failure("%s is no text in UTF-8".formatted(file));
        } catch (IOException e) {
            throw new Failure("Cannot read %s: %s".formatted(file, e.getMessage()));
        }
    }

    String kind() {
        return object.path("kind").asString("");
    }

    /** Where its pods would be; null if it does not say so. */
    @Nullable String namespace() {
        return object.at("/metadata/namespace").asString(null);
    }

    /** As people call it, for instance {@code Job train}. */
    String title() {
        return Stream.of(
                        kind(),
                        object.at("/metadata/name")
                                .asString(object.at("/metadata/generateName").asString("")))
                .filter(word -> !word.isEmpty())
                .reduce((kind, name) -> kind + " " + name)
                .orElse(where);
    }

    /** How many pods it makes. */
    Replicas replicas() {
        if (!PodTemplate.isKnown(kind())) {
            throw new Failure(
                    "%s: nobody here knows how many pods a %s makes; use %s"
                            .formatted(where, kind(), PodTemplate.KINDS));
        }
        try {
            return Replicas.of(JSON.treeToValue(object, Map.class));
        } catch (IllegalArgumentException e) {
            throw new Failure("%s: %s".formatted(where, e.getMessage()));
        }
    }
}
