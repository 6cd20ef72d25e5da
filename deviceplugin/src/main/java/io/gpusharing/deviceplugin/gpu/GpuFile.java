package io.gpusharing.deviceplugin.gpu;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.StateFile;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of this node as they were last, on its disk as JSON: who is missing after a restart, and
 * who has failed before it.
 *
 * @param path the file
 */
record GpuFile(Path path) {

    private static final int VERSION = 1;

    /**
     * What is written down.
     *
     * @param boot which boot of the machine it was
     * @param driver the driver's version
     */
    record Content(String boot, String driver, List<Entry> gpus) {}

    /** One GPU: what it is, how it failed, since when it is missing. */
    record Entry(PhysicalGpu gpu, @Nullable Fault fault, @Nullable Instant missingSince) {}

    /** Whether somebody has removed it. */
    boolean isGone() {
        return Files.notExists(path);
    }

    /**
     * What was written last; nothing if there is no file.
     *
     * @throws IOException if there is one that cannot be understood
     */
    Optional<Content> read() throws IOException {
        return file().read(GpuFile::content);
    }

    private StateFile file() {
        return new StateFile(path, VERSION);
    }

    private static Content content(JsonObject file) {
        var gpus = new ArrayList<Entry>();
        for (JsonElement gpu : file.getAsJsonArray("gpus")) {
            gpus.add(entry(gpu.getAsJsonObject()));
        }
        return new Content(
                file.get("boot").getAsString(),
                file.get("driver").getAsString(),
                List.copyOf(gpus));
    }

    void write(Content content) throws IOException {
        var gpus = new JsonArray();
        content.gpus.forEach(entry -> gpus.add(json(entry)));
        var file = new JsonObject();
        file.addProperty("boot", content.boot);
        file.addProperty("driver", content.driver);
        file.add("gpus", gpus);
        file().write(file, "rw-------");
    }

    private static Entry entry(JsonObject json) {
        return new Entry(
                new PhysicalGpu(
                        json.get("index").getAsInt(),
                        json.get("uuid").getAsString(),
                        json.get("minor").getAsInt(),
                        json.get("model").getAsString(),
                        json.get("memoryMiB").getAsLong(),
                        json.get("pciBusId").getAsString(),
                        json.get("mig").getAsBoolean(),
                        json.has("unifiedMemory")),
                json.has("fault")
                        ? new Fault(
                                json.get("fault").getAsString(),
                                Cure.valueOf(json.get("cure").getAsString()))
                        : null,
                json.has("missingSince")
                        ? Instant.parse(json.get("missingSince").getAsString())
                        : null);
    }

    private static JsonObject json(Entry entry) {
        var json = new JsonObject();
        PhysicalGpu gpu = entry.gpu;
        json.addProperty("index", gpu.index());
        json.addProperty("uuid", gpu.uuid());
        json.addProperty("minor", gpu.minor());
        json.addProperty("model", gpu.model());
        json.addProperty("memoryMiB", gpu.memoryMiB());
        json.addProperty("pciBusId", gpu.pciBusId());
        json.addProperty("mig", gpu.mig());
        if (gpu.unifiedMemory()) {
            json.addProperty("unifiedMemory", true);
        }
        if (entry.fault != null) {
            json.addProperty("fault", entry.fault.reason());
            json.addProperty("cure", entry.fault.cure().name());
        }
        if (entry.missingSince != null) {
            json.addProperty("missingSince", entry.missingSince.toString());
        }
        return json;
    }
}
