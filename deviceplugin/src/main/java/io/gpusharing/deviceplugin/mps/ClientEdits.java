package io.gpusharing.deviceplugin.mps;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cdi.DriverEdits;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What makes a container's programs clients of a daemon, within their limits: three variables and a
 * folder with one socket. Limits are for each process, and a program can lift them by unsetting a
 * variable.
 *
 * @param percentage of the GPU's multiprocessors; empty for no limit
 */
record ClientEdits(GpuFolder folder, GpuHold hold, OptionalInt percentage) {

    /** Where the container finds the folder. */
    private static final String PIPE = "/run/gpusharing/mps";

    private static final int ALL = 100;

    static ClientEdits of(GpuFolder folder, GpuHold hold, String computeCapability) {
        return new ClientEdits(
                folder,
                hold,
                hold.cores() == 0
                        ? OptionalInt.empty()
                        : ThreadPercentage.of(hold.cores(), computeCapability));
    }

    /** Adds them to what a container gets. */
    void addTo(JsonObject edits) {
        JsonArray environment = DriverEdits.list(edits, "env");
        // All of them in any case, so that none stays that an image or a pod has set.
        environment.add("CUDA_MPS_PIPE_DIRECTORY=" + PIPE);
        environment.add("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=" + percentage.orElse(ALL));
        // By number, since the process sees one GPU: where the text names one that it does not see,
        // or none, there is no limit.
        environment.add(
                "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="
                        + (hold.memory() > 0 ? "0=%dM".formatted(hold.memory()) : ""));
        var options = new JsonArray();
        List.of("ro", "nosuid", "nodev", "noexec", "bind").forEach(options::add);
        var mount = new JsonObject();
        mount.addProperty("hostPath", folder.client().toString());
        mount.addProperty("containerPath", PIPE);
        mount.add("options", options);
        DriverEdits.list(edits, "mounts").add(mount);
    }

    /** What the pod's owner should know of the limit on processors; empty if it is the share. */
    Optional<String> notice(String container) {
        long share = hold.cores();
        if (share == 0 || (percentage.isPresent() && percentage.getAsInt() == share)) {
            return Optional.empty();
        }
        String why =
                "On this GPU a limit of %d percent may give wrong products of matrices without an error"
                        .formatted(share);
        return Optional.of(
                percentage.isPresent()
                        ? "%s: %s, so %s is limited to %d percent. It is charged for the %d that it asked for"
                                .formatted(hold.gpu(), why, container, percentage.getAsInt(), share)
                        : "%s: %s, and the next lower right one is far below, so nothing limits the processors of %s"
                                .formatted(hold.gpu(), why, container));
    }
}
