package io.gpusharing.deviceplugin.cdi;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a container gets at a GPU and its driver on this node. */
public sealed interface DriverEdits {

    /** The specification of NVIDIA's toolkit on this node. */
    record Specification(Path file, JsonObject content) implements DriverEdits {}

    /**
     * There is none. NVIDIA's container runtime, where it is the runtime, adds what the variable
     * {@code NVIDIA_VISIBLE_DEVICES} names.
     */
    record LegacyRuntime() implements DriverEdits {}

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

    /** Mounts a file of the node for reading. */
    static void mount(JsonObject edits, Path file, String at) {
        var options = new JsonArray();
        List.of("ro", "nosuid", "nodev", "bind").forEach(options::add);
        var mount = new JsonObject();
        mount.addProperty("hostPath", file.toString());
        mount.addProperty("containerPath", at);
        mount.add("options", options);
        list(edits, "mounts").add(mount);
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
