package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.GpuInventory;
import io.gpusharing.nvml.PhysicalGpu;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the log says of GPUs: each change once. For one thread. */
final class GpuLog {

    private static final Logger log = LoggerFactory.getLogger(GpuLog.class);

    private final Path file;
    private final Map<String, String> faults = new HashMap<>();
    private final Set<String> unnamed = new HashSet<>();
    private final Set<String> ignored = new HashSet<>();
    private boolean unwritten;

    /**
     * @param file where GPUs are remembered
     */
    GpuLog(Path file) {
        this.file = file;
    }

    void unreadable(Exception problem) {
        log.atWarn()
                .addKeyValue("reason", problem.getMessage())
                .log("cannot read which GPUs there were, beginning anew");
    }

    /** See {@link #written}. */
    void unwritten(Exception problem) {
        if (!unwritten) {
            unwritten = true;
            log.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("reason", problem.toString())
                    .log("cannot write down which GPUs there are");
        }
    }

    void written() {
        unwritten = false;
    }

    void forgotten() {
        log.atInfo()
                .addKeyValue("file", file)
                .log("the file of GPUs was removed: missing ones are forgotten, others checked");
    }

    /**
     * @param first whether none was known before
     */
    void found(PhysicalGpu gpu, boolean first) {
        log.atInfo()
                .addKeyValue("gpu", gpu.uuid())
                .addKeyValue("model", gpu.model())
                .addKeyValue("pci", gpu.pciBusId())
                .addKeyValue("minor", gpu.minor())
                .log(first ? "found a GPU" : "found a GPU that was not here before");
        if (gpu.unifiedMemory()) {
            log.atWarn()
                    .addKeyValue("gpu", gpu.uuid())
                    .addKeyValue("memoryMiB", gpu.memoryMiB())
                    .log(
                            "a GPU has no memory of its own: the computer's is offered as its, which pods' processes use, too");
        }
    }

    void listed(KnownGpu old, PhysicalGpu now) {
        PhysicalGpu before = old.physical();
        if (old.missingSince() != null) {
            log.atInfo()
                    .addKeyValue("gpu", now.uuid())
                    .addKeyValue("missingSince", old.missingSince())
                    .log("a GPU that was missing is here again");
        }
        if (old.wasRead() && before.minor() != now.minor()) {
            log.atWarn()
                    .addKeyValue("gpu", now.uuid())
                    .addKeyValue("before", "/dev/nvidia" + before.minor())
                    .addKeyValue("now", "/dev/nvidia" + now.minor())
                    .log(
                            "a GPU changed its device file: make NVIDIA's CDI specification anew, if this node has one");
        }
        if (old.wasRead() && before.mig() != now.mig()) {
            log.atInfo()
                    .addKeyValue("gpu", now.uuid())
                    .addKeyValue("mig", now.mig())
                    .log("MIG of a GPU was switched");
        }
    }

    void unnamed(GpuInventory.Unreadable gpu) {
        if (unnamed.add(gpu.index() + " " + gpu.reason())) {
            log.atWarn()
                    .addKeyValue("index", gpu.index())
                    .addKeyValue("reason", gpu.reason())
                    .log("a GPU whose UUID nobody knows cannot be read, so it is not offered");
        }
    }

    void missing(KnownGpu gpu) {
        if (gpu.missingSince() == null) {
            log.atWarn()
                    .addKeyValue("gpu", gpu.uuid())
                    .addKeyValue("model", gpu.physical().model())
                    .addKeyValue("pci", gpu.physical().pciBusId())
                    .addKeyValue("forgottenWithout", file)
                    .log("a GPU that was here is missing");
        }
    }

    void ignored(KnownGpu gpu, long xid) {
        if (ignored.add(gpu.uuid() + " " + xid)) {
            log.atInfo()
                    .addKeyValue("gpu", gpu.uuid())
                    .addKeyValue("error", Xids.words(xid))
                    .log("a GPU stays in use after an error, said once for each number");
        }
    }

    /** Says who has failed and who is healthy again. */
    void faults(Collection<KnownGpu> known) {
        for (KnownGpu gpu : known) {
            String words = gpu.missingSince() == null ? gpu.words() : null;
            String before =
                    words == null ? faults.remove(gpu.uuid()) : faults.put(gpu.uuid(), words);
            if (words != null && !words.equals(before)) {
                log.atWarn()
                        .addKeyValue("gpu", gpu.uuid())
                        .addKeyValue("reason", words)
                        .log("a GPU is unhealthy");
            } else if (words == null && before != null && gpu.missingSince() == null) {
                log.atInfo().addKeyValue("gpu", gpu.uuid()).log("a GPU is healthy again");
            }
        }
        faults.keySet().retainAll(known.stream().map(KnownGpu::uuid).collect(Collectors.toSet()));
    }
}
