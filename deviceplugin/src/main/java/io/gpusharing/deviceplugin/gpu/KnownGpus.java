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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All GPUs that this node has or had, by UUID: compared with what NVML lists, remembered on disk,
 * and what becomes of them said. For one thread.
 */
final class KnownGpus {

    private final GpuFile file;
    private final String boot;
    private final Map<String, KnownGpu> known = new TreeMap<>();
    private final GpuLog log;
    private GpuFile.@Nullable Content written;

    /**
     * Starts with those that are remembered.
     *
     * @param boot which boot of the machine this is; empty if nobody knows
     */
    KnownGpus(GpuFile file, String boot) {
        this.file = file;
        this.boot = boot;
        this.log = new GpuLog(file.path());
        try {
            written = file.read().orElse(null);
        } catch (IOException e) {
            log.unreadable(e);
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
                .map(gpu ->
                        problem == null
                                ? new NodeGpu(gpu.physical(), gpu.words(), gpu.isLost())
                                : new NodeGpu(gpu.physical(), problem))
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
        log.forgotten();
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
            log.missing(gpu);
            gpu.missing(now, opening);
        }
        renumber(missing, there);
        return inDoubt;
    }

    private void listed(PhysicalGpu gpu, int opening) {
        KnownGpu old = known.get(gpu.uuid());
        if (old == null) {
            known.put(gpu.uuid(), KnownGpu.found(gpu, opening));
            log.found(gpu, written == null);
            return;
        }
        log.listed(old, gpu);
        old.listed(gpu, opening);
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
        unnamed.forEach(log::unnamed);
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
        log.faults(known.values());
    }

    /** Says that one has reported an error after which it stays in use. */
    void tellIgnored(KnownGpu gpu, long xid) {
        log.ignored(gpu, xid);
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
            log.written();
        } catch (IOException e) {
            log.unwritten(e);
        }
    }
}
