package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.fake.FakeProcess;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.sidecar.attribution.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A tree that looks like {@code /proc} to a meter that plays a scenario. */
public final class FakeProc {

    private FakeProc() {}

    /**
     * Writes the tree: the processes that the scenario's view lets the meter see.
     *
     * @param directory an empty directory
     * @param bootId the kernel's name of the boot
     */
    public static ProcFs write(Path directory, Scenario scenario, String bootId) {
        try {
            put(directory.resolve("sys/kernel/random/boot_id"), bootId + "\n");
            boolean pause = scenario.view() == Scenario.View.SHARED;
            put(directory.resolve("1/comm"), pause ? "pause\n" : "java\n");
            for (FakeProcess process : scenario.processes()) {
                switch (scenario.view()) {
                    case HOST -> {
                        process(directory, process.hostPid(), process.podUid(), "100");
                        if (scenario.isMpsServer(process)) {
                            put(
                                    directory.resolve(process.hostPid() + "/comm"),
                                    "nvidia-cuda-mps\n");
                        }
                    }
                    case SHARED -> {
                        if (process.podPid() != 0) {
                            process(directory, process.podPid(), "", "100");
                        }
                    }
                    case OWN -> {}
                }
            }
            return new ProcFs(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes one process; the pod's UID stands in its control group, as kubelet names it. */
    public static void process(Path directory, long pid, String podUid, String startTime)
            throws IOException {
        Path process = directory.resolve(Long.toString(pid));
        String group =
                podUid.isEmpty()
                        ? "0::/user.slice\n"
                        : "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
                                + podUid.replace('-', '_')
                                + ".slice/cri-containerd-"
                                + "0123456789abcdef".repeat(4)
                                + ".scope\n";
        put(process.resolve("cgroup"), group);
        put(process.resolve("comm"), "python (x) y\n");
        put(
                process.resolve("stat"),
                pid + " (python (x) y) S 1" + " 0".repeat(17) + " " + startTime + " 0 0\n");
    }

    private static void put(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
