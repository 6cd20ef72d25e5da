package io.gpusharing.deviceplugin.cdi;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.AtomicFile;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A library of the site's own that stands between programs and CUDA, and refuses what is beyond
 * their share. Told by the variables that HAMi-core reads (HAMi-core's README); loaded into every
 * program of the container by {@code /etc/ld.so.preload}, as HAMi does it.
 *
 * @param library where it lies on the node, and in the container
 * @param preload a file of ours that names it
 * @param environment variables besides, {@code NAME=value}
 */
public record Interceptor(Path library, Path preload, List<String> environment) {

    public Interceptor {
        environment = List.copyOf(environment);
    }

    /**
     * One whose file is written.
     *
     * @param shares where files lie that containers see
     */
    public static Interceptor of(Path library, Path shares, List<String> environment)
            throws IOException {
        Path preload = shares.resolve("ld.so.preload");
        AtomicFile.write(preload, library + "\n", "rw-r--r--");
        return new Interceptor(library, preload, environment);
    }

    /**
     * Whether it could not say what these are: its variables are of one GPU, and a part beside
     * other GPUs would have no limit.
     */
    public static boolean isBeyond(List<GpuHold> holds) {
        return holds.size() > 1 && holds.stream().anyMatch(hold -> !hold.whole());
    }

    /** Adds it to what a container gets that takes turns on a GPU. */
    public void addTo(JsonObject edits, List<GpuHold> holds) {
        // By MPS the driver has the limits; two that differ would help nobody.
        if (holds.size() != 1
                || holds.getFirst().whole()
                || !holds.getFirst().sharing().equals(Sharing.TIME_SLICES)) {
            return;
        }
        GpuHold hold = holds.getFirst();
        JsonArray variables = DriverEdits.list(edits, "env");
        environment.forEach(variables::add);
        if (hold.memory() > 0) {
            variables.add("CUDA_DEVICE_MEMORY_LIMIT=%dm".formatted(hold.memory()));
        }
        if (hold.cores() > 0) {
            variables.add("CUDA_DEVICE_SM_LIMIT=" + hold.cores());
        }
        DriverEdits.mount(edits, library, library.toString());
        DriverEdits.mount(edits, preload, "/etc/ld.so.preload");
    }
}
