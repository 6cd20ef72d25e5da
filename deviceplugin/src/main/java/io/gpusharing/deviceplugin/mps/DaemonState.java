package io.gpusharing.deviceplugin.mps;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.StateFile;
import java.io.IOException;

/**
 * How the daemon of a GPU is, as the program that runs it has written it.
 *
 * @param change the {@link DaemonOrder}'s number of the change that it follows
 * @param check the {@link DaemonOrder}'s number of the last try whether work gets done
 * @param computeCapability of the GPU, {@code 9.0} for instance; empty if it is not known
 * @param reason why it is not ready, or why it was not when it was tried last, in words
 */
public record DaemonState(
        Phase phase, int change, int check, String computeCapability, String reason) {

    /** Where it stands. */
    public enum Phase {
        /** There is none, and the GPU is anybody's. */
        Stopped,
        /** It has been started, and no client has got anything done yet. */
        Starting,
        /**
         * A client has got something done; a reason says why it is not known whether one still
         * does.
         */
        Ready,
        /** It ended, could not be started, or no client gets anything done. */
        Failed
    }

    /** Nobody has written any. */
    public static final DaemonState NONE = new DaemonState(Phase.Stopped, 0, 0, "", "");

    private static final int VERSION = 1;

    /** What was written last; {@link #NONE} if nothing was. */
    public static DaemonState read(GpuFolder folder) throws IOException {
        return new StateFile(folder.state(), VERSION)
                .read(content ->
                        new DaemonState(
                                Phase.valueOf(content.get("phase").getAsString()),
                                content.get("change").getAsInt(),
                                content.get("check").getAsInt(),
                                content.get("computeCapability").getAsString(),
                                content.get("reason").getAsString()))
                .orElse(NONE);
    }

    /** Whether it follows an order, and nothing is left to do for it. */
    boolean follows(DaemonOrder order) {
        return change == order.change() && check == order.check();
    }

    /** Writes it. */
    public void write(GpuFolder folder) throws IOException {
        var content = new JsonObject();
        content.addProperty("phase", phase.name());
        content.addProperty("change", change);
        content.addProperty("check", check);
        content.addProperty("computeCapability", computeCapability);
        content.addProperty("reason", reason);
        new StateFile(folder.state(), VERSION).write(content, "rw-r--r--");
    }
}
