package io.gpusharing.deviceplugin.mps;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.StateFile;
import java.io.IOException;
import java.nio.file.Files;

/**
 * What the device plugin wants of a GPU's daemon, handed over in a file. A number that has grown
 * asks for something once; what was done for it stands in the {@link DaemonState}.
 *
 * @param shared whether there is to be one
 * @param change grows whenever that changes: what is told of an earlier one says nothing of this
 * @param check grows when a client is to try whether work gets done
 */
public record DaemonOrder(boolean shared, int change, int check) {

    /** No daemon. */
    public static final DaemonOrder NONE = new DaemonOrder(false, 0, 0);

    private static final int VERSION = 1;

    /** What was ordered last; {@link #NONE} if nothing was. */
    public static DaemonOrder read(GpuFolder folder) throws IOException {
        return new StateFile(folder.order(), VERSION)
                .read(content ->
                        new DaemonOrder(
                                content.get("shared").getAsBoolean(),
                                content.get("change").getAsInt(),
                                content.get("check").getAsInt()))
                .orElse(NONE);
    }

    /** Orders it. */
    public void write(GpuFolder folder) throws IOException {
        Files.createDirectories(folder.path());
        var content = new JsonObject();
        content.addProperty("shared", shared);
        content.addProperty("change", change);
        content.addProperty("check", check);
        new StateFile(folder.order(), VERSION).write(content, "rw-r--r--");
    }

    DaemonOrder wanting(boolean daemon) {
        return new DaemonOrder(daemon, change + 1, check);
    }

    DaemonOrder checked() {
        return new DaemonOrder(shared, change, check + 1);
    }
}
