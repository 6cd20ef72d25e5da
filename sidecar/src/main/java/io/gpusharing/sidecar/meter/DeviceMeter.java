package io.gpusharing.sidecar.meter;

import io.gpusharing.sidecar.nvml.DriverVersion;
import io.gpusharing.sidecar.nvml.Nvml;
import io.gpusharing.sidecar.nvml.NvmlReturn;
import io.gpusharing.sidecar.nvml.Remedy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One device: reads it, climbs and falls on the ladder, and turns readings into counters. Reading
 * happens without a lock; {@link #count} and everything that looks at counters runs under the
 * meter's.
 *
 * <p>Time is settled up to an instant: what lies before is covered or uncovered for good, what lies
 * after may still be back-filled from the driver's ring, as long as that reaches.
 */
final class DeviceMeter {

    private static final long RING = DeviceReading.RING_MICROS;
    private static final long PERCENT_TO_FULL = 100;
    private static final int CHECK_EVERY_TICKS = 10;
    private static final long FAILING_FOR_MICROS = 60_000_000;
    private static final long PROBE_EVERY_MICROS = 60_000_000;
    private static final int DOUBTS_BEFORE_FALL = 3;
    private static final int TICKS_WITHOUT_JOIN = 5;
    private static final long KEEP_ENDED_MICROS = 600_000_000;
    private static final long IDLE_AFTER_MICROS = 2_000_000;

    final String uuid;
    final DeviceReading reading;
    final Ladder ladder = new Ladder();

    /** The product's name; empty until it was asked. */
    String name = "";

    /** NVML's handle; 0 while the device cannot be reached. */
    long handle;

    /** The basis of the last tick, to log a change once. */
    Basis announced = Basis.ALLOCATION;

    private final Viewpoint view;
    private final List<Tally> tallies = new ArrayList<>();
    private final Map<String, Tally> byPod = new HashMap<>();
    private @Nullable String pinned = "NVML has not been asked yet";
    private long settledMicros;
    private long unattributedHundredths;

    private boolean everReachable;
    private int ticks;
    private int doubts;
    private int unjoined;
    private long probedAt = Long.MIN_VALUE / 2;
    private boolean samplesRead;
    private boolean listProvesIdle;
    private long checkedProcesses;
    private long checkedDevice;
    private long checkedFrom;
    private long busyPercent;
    private long failingSince = -1;

    /**
     * @param sinceMicros when metering of this device begins, monotonic
     */
    DeviceMeter(String uuid, Viewpoint view, long sinceMicros, long now, long wall) {
        this.uuid = uuid;
        this.view = view;
        this.settledMicros = sinceMicros;
        this.reading = new DeviceReading(uuid, view, now, wall - (now - sinceMicros));
        String resident = view.resident();
        if (resident != null) {
            tally(resident);
        }
    }

    /** The device answers under this handle. */
    void reachable(long newHandle) {
        if (handle != newHandle) {
            reading.forgetList();
        }
        handle = newHandle;
        pinned = null;
        everReachable = true;
    }

    /** The device is metered by allocation until {@link #reachable}, and why. */
    void unreachable(String reason) {
        handle = 0;
        pinned = reason;
    }

    boolean isReachable() {
        return pinned == null;
    }

    /**
     * Reads the device.
     *
     * @return what the owner of the library has to do; {@link Remedy#NONE} when all is well
     */
    Remedy read(Nvml nvml, Optional<DriverVersion> driver, int visible, long now, long wall) {
        samplesRead = false;
        if (pinned != null) {
            return Remedy.NONE;
        }
        ticks++;
        reading.readList(nvml, handle, now);
        reading.readRows(nvml, handle, visible, now, wall);
        Remedy remedy = worst(reading.rowsAnswer, reading.listAnswer);
        switch (remedy) {
            case REINITIALISE, DEVICE_GONE, LEAVE -> {
                return remedy;
            }
            case ACCESS_DOUBTFUL -> {
                // One odd answer is bridged by the ring; three in a row are none to be trusted.
                if (++doubts < DOUBTS_BEFORE_FALL) {
                    return Remedy.NONE;
                }
            }
            default -> doubts = 0;
        }
        listProvesIdle =
                reading.listAnswer.ok() && reading.list.count == 0 && view.listIsWhole(driver);
        judgeProcess(driver, now);
        judgeDevice(nvml, visible, now);
        return remedy == Remedy.ACCESS_DOUBTFUL ? remedy : Remedy.NONE;
    }

    /** The graver of two remedies; they are declared in that order. */
    private static Remedy worst(NvmlReturn rows, NvmlReturn list) {
        return rows.remedy().compareTo(list.remedy()) >= 0 ? rows.remedy() : list.remedy();
    }

    private void judgeProcess(Optional<DriverVersion> driver, long now) {
        boolean silent = reading.rowsAnswer.remedy() == Remedy.NOTHING_NEW;
        if (!reading.rowsAnswer.ok() && !silent) {
            ladder.refused(Basis.PROCESS, Refusal.of("the process samples", reading.rowsAnswer));
            return;
        }
        if (!reading.listAnswer.ok()) {
            ladder.refused(Basis.PROCESS, Refusal.of("the process list", reading.listAnswer));
            return;
        }
        if (reading.list.mpsClients > 0) {
            ladder.refused(
                    Basis.PROCESS, "MPS serves this GPU, and whose pid its samples carry is open");
            return;
        }
        String refusal = view.refusesProcess(driver, reading.everJoined);
        if (refusal != null) {
            ladder.refused(Basis.PROCESS, refusal);
        } else if (failingSince >= 0 && now - failingSince >= FAILING_FOR_MICROS) {
            ladder.refused(
                    Basis.PROCESS,
                    "for a minute the processes' samples made up less than half of the device's");
        } else {
            ladder.proven(Basis.PROCESS, now);
        }
    }

    private void judgeDevice(Nvml nvml, int visible, long now) {
        String sole = view.soleOwner(uuid, visible);
        noteUnjoined(sole != null);
        String split = view.refusesSplit();
        boolean wanted = ladder.current() != Basis.PROCESS && (sole != null || split == null);
        if (wanted || ticks % CHECK_EVERY_TICKS == 0 || now - probedAt >= PROBE_EVERY_MICROS) {
            probedAt = now;
            samplesRead = true;
            reading.readSamples(nvml, handle);
        }
        NvmlReturn answer = reading.samplesAnswer;
        boolean answers = answer.ok() || answer.remedy() == Remedy.NOTHING_NEW;
        if (sole == null) {
            ladder.refused(Basis.DEVICE, "the GPU is not known to be one pod's alone");
        } else if (!answers) {
            ladder.refused(Basis.DEVICE, Refusal.of("the device's samples", answer));
        } else {
            ladder.proven(Basis.DEVICE, now);
        }
        if (split != null) {
            ladder.refused(Basis.DEVICE_SPLIT, split);
        } else if (!answers) {
            ladder.refused(Basis.DEVICE_SPLIT, Refusal.of("the device's samples", answer));
        } else if (!reading.listAnswer.ok()) {
            ladder.refused(Basis.DEVICE_SPLIT, Refusal.of("the process list", reading.listAnswer));
        } else {
            ladder.proven(Basis.DEVICE_SPLIT, now);
        }
    }

    /**
     * On a GPU of one pod alone every busy process is the pod's. If some are listed and the busy
     * ones are never among them, samples and list name processes differently, whatever the driver's
     * version promised.
     */
    private void noteUnjoined(boolean alone) {
        if (reading.joined) {
            unjoined = 0;
        } else if (reading.rows.count > 0 && reading.list.count > 0) {
            unjoined++;
        }
        if (alone && unjoined >= TICKS_WITHOUT_JOIN) {
            ladder.refused(
                    Basis.PROCESS, "busy processes of the pod are not among the listed ones");
        }
    }

    /** Turns what was read into counters. */
    void count(int visible, long now, long wall) {
        Basis before = ladder.current();
        if (pinned != null) {
            ladder.refuseAll(pinned);
            if (everReachable) {
                ladder.settle(now);
            }
            uncovered(now);
            return;
        }
        if (doubts > 0 && doubts < DOUBTS_BEFORE_FALL) {
            settleStalled(now);
            return;
        }
        Basis basis = ladder.settle(now);
        notePresence(now);
        if (basis != before && (basis == Basis.DEVICE || basis == Basis.DEVICE_SPLIT)) {
            // What is not settled yet is taken from the device's own history.
            reading.samplesFrom = wall - Math.min(now - settledMicros, RING);
            samplesRead = false;
        }
        long processes = takeRows(basis == Basis.PROCESS && !reading.ambiguous, now, wall);
        long device = samplesRead ? reading.takeSamples(wall) : -1;
        checkAttribution(processes, device, now, wall);
        switch (basis) {
            case PROCESS -> {
                if (reading.ambiguous) {
                    // A row that may be ours was dropped, so this stretch was not measured.
                    uncovered(now);
                } else if (reading.rowsReady) {
                    covered(now);
                } else {
                    settleStalled(now);
                }
            }
            case DEVICE, DEVICE_SPLIT -> takeDevice(basis, device, visible, now);
            case ALLOCATION -> uncovered(now);
        }
    }

    /**
     * Moves the rows' cursor, and counts them if they are the basis.
     *
     * @return busy hundredths of a microsecond over all clean rows
     */
    private long takeRows(boolean counted, long now, long wall) {
        if (!reading.rowsReady) {
            return 0;
        }
        long total = 0;
        long widest = 0;
        for (int i = 0; i < reading.rows.count; i++) {
            total += reading.rows.sm[i] * reading.window(i);
            widest = Math.max(widest, reading.window(i));
        }
        // Percents are rounded per process, so their sum can pass the whole.
        long limit = widest * PERCENT_TO_FULL;
        for (int i = 0; counted && i < reading.rows.count; i++) {
            long busy = reading.rows.sm[i] * reading.window(i);
            if (total > limit) {
                busy = (long) ((double) busy * limit / total);
            }
            Owner owner = reading.owners[i];
            if (owner != null) {
                Tally tally = tally(owner.podUid());
                tally.busy(Basis.PROCESS, busy);
                tally.containerBusy(owner.containerId(), busy);
                tally.lastPresentMicros = now;
            } else {
                unattributedHundredths += busy;
            }
        }
        reading.rowsDone(now, wall);
        return Math.min(total, limit);
    }

    /** Who holds how much memory, and who is there at all, after each reading of the list. */
    private void notePresence(long now) {
        if (!reading.takeListFresh()) {
            return;
        }
        for (int i = 0; i < tallies.size(); i++) {
            Tally tally = tallies.get(i);
            tally.memoryBytes = 0;
            tally.listed = false;
        }
        List<String> allocated = view.allocated(uuid);
        for (int i = 0; i < allocated.size(); i++) {
            tally(allocated.get(i)).lastPresentMicros = now;
        }
        for (int i = 0; i < reading.list.count; i++) {
            Owner owner = view.owner(reading.list.pid[i], reading.list, now);
            if (owner != null) {
                Tally tally = tally(owner.podUid());
                tally.memoryBytes += Math.max(0, reading.list.memory[i]);
                tally.listed = true;
                tally.lastPresentMicros = now;
            }
        }
        for (int i = 0; i < tallies.size(); i++) {
            Tally tally = tallies.get(i);
            boolean lives = view.lives(tally.podUid, tally.lastPresentMicros, now);
            if (lives) {
                tally.endedMicros = Tally.NEVER;
            } else if (tally.endedMicros == Tally.NEVER) {
                tally.endedMicros = now;
            }
        }
        forgetLongEnded(now);
    }

    /** Bounded memory: pods come and go on a node for months. */
    private void forgetLongEnded(long now) {
        for (int i = tallies.size() - 1; i >= 0; i--) {
            Tally tally = tallies.get(i);
            if (tally.endedMicros != Tally.NEVER && now - tally.endedMicros > KEEP_ENDED_MICROS) {
                byPod.remove(tally.podUid);
                tallies.remove(i);
            }
        }
    }

    private void takeDevice(Basis basis, long device, int visible, long now) {
        boolean silent = reading.samples.count == 0 && now - settledMicros < IDLE_AFTER_MICROS;
        if (device < 0 || silent) {
            settleStalled(now);
            return;
        }
        String sole = basis == Basis.DEVICE ? view.soleOwner(uuid, visible) : null;
        if (listProvesIdle) {
            // For instance memory scrubbing while the driver starts: busy, and nobody's work.
            unattributedHundredths += device;
        } else if (sole != null) {
            Tally tally = tally(sole);
            tally.busy(basis, device);
            tally.memoryBytes = reading.memoryUsed;
        } else {
            split(device);
        }
        covered(now);
    }

    /** Divides busy time by weight among the pods that have a process on the device. */
    private void split(long busy) {
        long weights = 0;
        for (int i = 0; i < tallies.size(); i++) {
            Tally tally = tallies.get(i);
            weights += tally.listed ? view.weight(tally.podUid, uuid) : 0;
        }
        long left = busy;
        for (int i = 0; i < tallies.size() && weights > 0; i++) {
            Tally tally = tallies.get(i);
            if (tally.listed) {
                long weight = view.weight(tally.podUid, uuid);
                long part = left / weights * weight + left % weights * weight / weights;
                tally.busy(Basis.DEVICE_SPLIT, part);
                left -= part;
                weights -= weight;
            }
        }
        unattributedHundredths += left;
    }

    /**
     * Every tenth tick: if the processes' samples make up less than half of the device's own for a
     * minute, attribution is failing, for instance under MPS.
     */
    private void checkAttribution(long processes, long device, long now, long wall) {
        checkedProcesses += processes;
        checkedDevice += Math.max(0, device);
        if (ticks % CHECK_EVERY_TICKS != 0 || device < 0) {
            return;
        }
        long fivePercent = (wall - checkedFrom) * 5;
        busyPercent = wall > checkedFrom ? checkedDevice / (wall - checkedFrom) : 0;
        if (checkedDevice > fivePercent && checkedProcesses * 2 < checkedDevice) {
            failingSince = failingSince < 0 ? now : failingSince;
        } else {
            failingSince = -1;
        }
        checkedProcesses = 0;
        checkedDevice = 0;
        checkedFrom = wall;
    }

    private void covered(long now) {
        long gap = now - settledMicros;
        long covered = Math.min(gap, RING);
        for (int i = 0; i < tallies.size(); i++) {
            Tally tally = tallies.get(i);
            if (tally.endedMicros == Tally.NEVER) {
                tally.covered(covered);
                // A pod that was seen first just now may not have been there all along.
                tally.uncovered(tally.isNew ? 0 : gap - covered);
                tally.isNew = false;
            }
        }
        settledMicros = now;
    }

    private void uncovered(long now) {
        for (int i = 0; i < tallies.size(); i++) {
            Tally tally = tallies.get(i);
            if (tally.endedMicros == Tally.NEVER) {
                tally.uncovered(tally.isNew ? 0 : now - settledMicros);
                tally.isNew = false;
            }
        }
        settledMicros = now;
    }

    /** What the ring can no longer bring back is uncovered, also while a call hangs. */
    void settleStalled(long now) {
        if (now - settledMicros > RING) {
            uncovered(now - RING);
        }
    }

    private Tally tally(String podUid) {
        Tally tally = byPod.get(podUid);
        if (tally == null) {
            tally = new Tally(podUid);
            tally.isNew = !podUid.equals(view.resident());
            byPod.put(podUid, tally);
            tallies.add(tally);
        }
        return tally;
    }

    /** The device as a whole, for dashboards: gauges, not counters. */
    DeviceState state() {
        return new DeviceState(uuid, name, ladder.current(), busyPercent, reading.memoryUsed);
    }

    /** Whether a process of the resident pod was ever seen here. */
    boolean everUsed() {
        return tallies.stream().anyMatch(tally -> tally.lastPresentMicros != Tally.NEVER);
    }

    List<Tally> tallies() {
        return tallies;
    }

    long unattributedMicros() {
        return unattributedHundredths / PERCENT_TO_FULL;
    }

    /** What a pod did here, as a report tells it. */
    DeviceUse use(Tally tally, @Nullable String stalled) {
        return stalled == null
                ? tally.use(uuid, ladder.current(), ladder.reason())
                : tally.use(uuid, Basis.ALLOCATION, stalled);
    }

    /** How long ago anything was settled; more than the ring's length means that NVML hangs. */
    long unsettledFor(long now) {
        return now - settledMicros;
    }

    Memory.Device remember() {
        return new Memory.Device(
                uuid,
                settledMicros,
                reading.rowsFrom,
                unattributedHundredths,
                tallies.stream().map(Tally::remember).toList());
    }

    void recall(Memory.Device memory) {
        settledMicros = memory.settledMicros();
        reading.rowsFrom = memory.rowsFrom();
        reading.samplesFrom = memory.rowsFrom();
        unattributedHundredths = memory.unattributedHundredths();
        tallies.clear();
        byPod.clear();
        for (Memory.Pod pod : memory.pods()) {
            Tally tally = tally(pod.uid());
            tally.isNew = false;
            tally.recall(pod);
        }
    }
}
