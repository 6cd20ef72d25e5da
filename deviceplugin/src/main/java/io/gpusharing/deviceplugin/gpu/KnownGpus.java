package io.gpusharing.deviceplugin.gpu;

import static java.util.Comparator.comparing;
import static java.util.Comparator.comparingInt;

import io.gpusharing.nvml.GpuInventory;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All GPUs that this node has or had, by UUID: compared with what NVML lists, remembered on disk,
 * and what becomes of them said. For one thread.
 */
final class KnownGpus {

    private static final Logger log = LoggerFactory.getLogger(KnownGpus.class);

    private final GpuFile file;
    private final String boot;
    private final Map<String, KnownGpu> known = new TreeMap<>();
    private final Map<String, String> toldFaults = new HashMap<>();
    private final Set<String> toldUnnamed = new HashSet<>();
    private GpuFile.@Nullable Content written;
    private boolean toldUnwritten;

    /**
     * Starts with those that are remembered.
     *
     * @param boot which boot of the machine this is; empty if nobody knows
     */
    KnownGpus(GpuFile file, String boot) {
        this.file = file;
        this.boot = boot;
        try {
            written = file.read();
        } catch (IOException e) {
            log.atWarn()
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot read which GPUs there were, beginning anew");
        }
        if (written != null) {
            // A reboot has initialised every GPU.
            boolean sameBoot = boot.isEmpty() || written.boot().equals(boot);
            for (GpuFile.Entry entry : written.gpus()) {
                known.put(
                        entry.gpu().uuid(),
                        KnownGpu.remembered(
                                entry.gpu(),
                                sameBoot ? entry.fault() : null,
                                entry.missingSince()));
            }
        }
    }

    /** The driver's version when they were written down; empty if nobody knows. */
    String driver() {
        return written == null ? "" : written.driver();
    }

    Collection<KnownGpu> all() {
        return known.values();
    }

    @Nullable KnownGpu get(@Nullable String uuid) {
        return uuid == null ? null : known.get(uuid);
    }

    /**
     * Everyone as others see it, in NVML's order.
     *
     * @param problem why NVML cannot be asked about any of them; null if it can
     */
    List<NodeGpu> shown(@Nullable String problem) {
        return known.values().stream()
                .map(gpu -> new NodeGpu(gpu.physical(), problem == null ? gpu.words() : problem))
                .sorted(comparingInt(gpu -> gpu.physical().index()))
                .toList();
    }

    /**
     * Forgets who is missing, and what needs a reset that nobody saw, if an administrator says so
     * by removing the file.
     */
    void forgetIfAsked() {
        if (written == null || !file.isGone()) {
            return;
        }
        log.atInfo()
                .addKeyValue("file", file.path())
                .log("the file of GPUs was removed: missing ones are forgotten, others checked");
        known.values().removeIf(gpu -> gpu.missingSince() != null);
        known.values().forEach(KnownGpu::initialised);
        written = null;
    }

    /**
     * NVML was asked for everything.
     *
     * @param opening how often NVML had been opened
     * @return whether one should look again soon before one believes it
     */
    boolean take(GpuInventory.Listed inventory, int opening, Instant now) {
        var there = new HashSet<String>();
        for (PhysicalGpu gpu : inventory.gpus()) {
            there.add(gpu.uuid());
            listed(gpu, opening);
        }
        boolean inDoubt = takeUnreadable(inventory.unreadable(), there, opening);
        List<KnownGpu> missing = absent(there);
        for (KnownGpu gpu : missing) {
            tellIfMissing(gpu);
            gpu.missing(now, opening);
        }
        renumber(missing, there);
        return inDoubt;
    }

    private void listed(PhysicalGpu gpu, int opening) {
        KnownGpu old = known.get(gpu.uuid());
        if (old == null) {
            known.put(gpu.uuid(), KnownGpu.found(gpu, opening));
            log.atInfo()
                    .addKeyValue("gpu", gpu.uuid())
                    .addKeyValue("model", gpu.model())
                    .addKeyValue("pci", gpu.pciBusId())
                    .addKeyValue("minor", gpu.minor())
                    .log(written == null ? "found a GPU" : "found a GPU that was not here before");
            return;
        }
        tellChange(old, gpu);
        old.listed(gpu, opening);
    }

    private static void tellChange(KnownGpu old, PhysicalGpu now) {
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

    /**
     * Finds out which GPUs those are that NVML cannot read: by UUID where it has that, else by what
     * had this index before, else as one of those that it does not list now.
     *
     * @param there UUIDs of the others; these come to them
     */
    private boolean takeUnreadable(
            List<GpuInventory.Unreadable> unreadable, Set<String> there, int opening) {
        boolean inDoubt = false;
        Deque<GpuInventory.Unreadable> unnamed = new ArrayDeque<>();
        for (GpuInventory.Unreadable each : unreadable) {
            KnownGpu gpu =
                    each.uuid().isEmpty()
                            ? atIndex(each.index(), there, opening)
                            : known.computeIfAbsent(
                                    each.uuid(), uuid -> KnownGpu.nameOnly(each.index(), uuid));
            if (gpu == null) {
                unnamed.add(each);
            } else {
                there.add(gpu.uuid());
                inDoubt |= gpu.unreadable(each, opening);
            }
        }
        known.values().removeIf(gpu -> !gpu.wasRead() && !there.contains(gpu.uuid()));
        for (KnownGpu gpu : absent(there)) {
            GpuInventory.Unreadable each = unnamed.poll();
            if (each != null) {
                there.add(gpu.uuid());
                inDoubt |= gpu.unreadable(each, opening);
            }
        }
        unnamed.forEach(this::tellUnnamed);
        return inDoubt;
    }

    private @Nullable KnownGpu atIndex(int index, Set<String> there, int opening) {
        return known.values().stream()
                .filter(gpu -> gpu.hasIndex(index, opening) && !there.contains(gpu.uuid()))
                .findFirst()
                .orElse(null);
    }

    /** Those that were not missing before come first. */
    private List<KnownGpu> absent(Set<String> there) {
        return known.values().stream()
                .filter(gpu -> !there.contains(gpu.uuid()))
                .sorted(comparing(gpu -> gpu.missingSince() != null))
                .toList();
    }

    private void tellUnnamed(GpuInventory.Unreadable unnamed) {
        if (toldUnnamed.add(unnamed.index() + " " + unnamed.reason())) {
            log.atWarn()
                    .addKeyValue("index", unnamed.index())
                    .addKeyValue("reason", unnamed.reason())
                    .log("a GPU whose UUID nobody knows cannot be read, so it is not offered");
        }
    }

    private void tellIfMissing(KnownGpu gpu) {
        if (gpu.missingSince() == null) {
            log.atWarn()
                    .addKeyValue("gpu", gpu.uuid())
                    .addKeyValue("model", gpu.physical().model())
                    .addKeyValue("pci", gpu.physical().pciBusId())
                    .addKeyValue("forgottenWithout", file.path())
                    .log("a GPU that was here is missing");
        }
    }

    /** Indices name units, so no two GPUs have one; those that NVML lists keep theirs. */
    private void renumber(List<KnownGpu> missing, Set<String> there) {
        var taken = new HashSet<Integer>();
        for (KnownGpu gpu : known.values()) {
            if (there.contains(gpu.uuid())) {
                taken.add(gpu.physical().index());
            }
        }
        int index = 0;
        for (KnownGpu gpu : missing) {
            while (!taken.add(index)) {
                index++;
            }
            gpu.setIndex(index);
        }
    }

    /** Says who has failed and who is healthy again, once each. */
    void tellFaults() {
        for (KnownGpu gpu : known.values()) {
            String words = gpu.missingSince() == null ? gpu.words() : null;
            String before =
                    words == null
                            ? toldFaults.remove(gpu.uuid())
                            : toldFaults.put(gpu.uuid(), words);
            if (words != null && !words.equals(before)) {
                log.atWarn()
                        .addKeyValue("gpu", gpu.uuid())
                        .addKeyValue("reason", words)
                        .log("a GPU is unhealthy");
            } else if (words == null && before != null && gpu.missingSince() == null) {
                log.atInfo().addKeyValue("gpu", gpu.uuid()).log("a GPU is healthy again");
            }
        }
        toldFaults.keySet().retainAll(known.keySet());
    }

    /** Writes them down where that says something new. */
    void save(String driver) {
        List<GpuFile.Entry> entries =
                known.values().stream()
                        .filter(KnownGpu::wasRead)
                        .map(gpu ->
                                new GpuFile.Entry(gpu.physical(), gpu.fault(), gpu.missingSince()))
                        .toList();
        var content = new GpuFile.Content(boot, driver, entries);
        if (content.equals(written)) {
            return;
        }
        try {
            file.write(content);
            written = content;
            toldUnwritten = false;
        } catch (IOException e) {
            if (!toldUnwritten) {
                toldUnwritten = true;
                log.atWarn()
                        .addKeyValue("file", file.path())
                        .addKeyValue("reason", e.toString())
                        .log("cannot write down which GPUs there are");
            }
        }
    }
}
