package io.gpusharing.deviceplugin.cdi;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** How a container gets at a GPU and its driver on this node. */
public sealed interface DriverEdits {

    /** The specification of NVIDIA's toolkit on this node, read each time: drivers are updated. */
    record Specification(Path file, JsonObject content) implements DriverEdits {}

    /**
     * There is none. NVIDIA's container runtime, where it is the runtime, adds what the variable
     * {@code NVIDIA_VISIBLE_DEVICES} names.
     */
    record LegacyRuntime() implements DriverEdits {}

    /** Of what kind NVIDIA's specification is. */
    String KIND = "nvidia.com/gpu";

    /** Where specifications lie; what is found later wins. */
    List<Path> FOLDERS = List.of(Path.of("/etc/cdi"), Path.of("/var/run/cdi"));

    /**
     * Looks for NVIDIA's specification. Other vendors' files may be as they like.
     *
     * @throws IOException if it is not found, and a file is there that cannot be read
     */
    static DriverEdits find(List<Path> folders) throws IOException {
        DriverEdits found = new LegacyRuntime();
        IOException unreadable = null;
        for (Path folder : folders) {
            if (!Files.isDirectory(folder)) {
                continue;
            }
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.sorted().toList()) {
                    try {
                        JsonObject content = read(file);
                        if (content != null && isNvidias(content)) {
                            found = new Specification(file, content);
                        }
                    } catch (NoSuchFileException e) {
                        // Somebody's container has started meanwhile.
                    } catch (IOException e) {
                        unreadable = e;
                    }
                }
            }
        }
        if (found instanceof LegacyRuntime && unreadable != null) {
            throw unreadable;
        }
        return found;
    }

    private static boolean isNvidias(JsonObject content) {
        return content.get("kind") instanceof JsonPrimitive kind
                && kind.getAsString().equals(KIND)
                && content.get("devices") instanceof JsonArray;
    }

    private static @Nullable JsonObject read(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (!name.matches(".+\\.(json|yaml|yml)") || name.startsWith(CdiFolder.PREFIX)) {
            return null;
        }
        try {
            // Every JSON text is YAML.
            Object content =
                    new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(file));
            return new Gson().toJsonTree(content) instanceof JsonObject object ? object : null;
        } catch (YAMLException | JsonParseException e) {
            throw new IOException("%s is no CDI specification: %s".formatted(file, e.getMessage()));
        }
    }

    /**
     * What makes these GPUs visible, and no other: edits as CDI writes them.
     *
     * @throws IOException if NVIDIA's specification does not name one of them
     */
    default JsonObject of(List<NodeGpu> gpus) throws IOException {
        var edits = new JsonObject();
        switch (this) {
            case LegacyRuntime() ->
                    list(edits, "env")
                            .add(
                                    "NVIDIA_VISIBLE_DEVICES="
                                            + String.join(
                                                    ",",
                                                    gpus.stream().map(NodeGpu::uuid).toList()));
            case Specification(Path file, JsonObject content) -> {
                merge(edits, content.get("containerEdits"));
                for (NodeGpu gpu : gpus) {
                    merge(edits, device(content, gpu, file).get("containerEdits"));
                }
                // Else NVIDIA's runtime, if it is the node's, would add what the image asks for.
                list(edits, "env").add("NVIDIA_VISIBLE_DEVICES=void");
            }
        }
        return edits;
    }

    /**
     * By UUID, if that is how nvidia-ctk was told to name them: an index may be another GPU's by
     * now.
     */
    private static JsonObject device(JsonObject content, NodeGpu gpu, Path file)
            throws IOException {
        String index = Integer.toString(gpu.physical().index());
        return device(content, gpu.uuid())
                .or(() -> device(content, index))
                .orElseThrow(() ->
                        new IOException(
                                "%s has no device named %s or %s: make it anew, by nvidia-ctk cdi generate"
                                        .formatted(file, gpu.uuid(), index)));
    }

    private static Optional<JsonObject> device(JsonObject content, String name) {
        for (JsonElement each : content.getAsJsonArray("devices")) {
            JsonObject device = each.getAsJsonObject();
            if (device.get("name").getAsString().equals(name)) {
                return Optional.of(device);
            }
        }
        return Optional.empty();
    }

    /** A list of edits, to be appended to. */
    static JsonArray list(JsonObject edits, String name) {
        if (!edits.has(name)) {
            edits.add(name, new JsonArray());
        }
        return edits.getAsJsonArray(name);
    }

    /** Appends lists to lists: nodes, mounts, hooks, variables. */
    private static void merge(JsonObject into, @Nullable JsonElement edits) {
        if (edits instanceof JsonObject object) {
            for (var list : object.entrySet()) {
                if (list.getValue() instanceof JsonArray values) {
                    JsonArray all = list(into, list.getKey());
                    values.forEach(value -> {
                        if (!all.contains(value)) {
                            all.add(value);
                        }
                    });
                }
            }
        }
    }
}
