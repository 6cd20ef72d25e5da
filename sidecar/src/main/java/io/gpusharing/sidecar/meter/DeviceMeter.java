package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.Remedy;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceState;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.Snapshot;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One device, tick by tick: reads it, has each basis checked, and turns what was read into counters
 * on the basis that is selected. Reading happens without a lock; {@link #count} and everything that
 * looks at counters runs under the meter's.
 */
final class DeviceMeter {

    private static final int CHECK_EVERY_TICKS = 10;
    private static final long IDLE_AFTER_MICROS = 2_000_000;

    final String uuid;
    final DeviceReading reading;
    final BasisSelector selector = new BasisSelector();
    final DeviceCounters counters;

    /** Stays empty in a sidecar, whose pod is reported alone. */
    final ProcessTable processes;

    /** The product's name; empty until it was asked. */
    String name = "";

    /** NVML's number of it; -1 until it was asked. */
    int index = -1;

    /** The basis of the last tick, to log a change once. */
    Basis announced = Basis.ALLOCATION;

    private final Viewpoint view;
    private final TimeSource time;
    private final BasisChecks checks;
    private @Nullable String pinned = "NVML has not been asked yet";

    /** NVML's handle; 0 while the device cannot be reached. */
    private long handle;

    private boolean everReachable;
    private int ticks;
    private long readAt;
    private long readAtWall;
    private boolean listProvesIdle;
    private boolean tellsProcesses;

    /**
     * @param sinceMicros when metering of this device begins, monotonic
     */
    DeviceMeter(
            String uuid, Viewpoint view, TimeSource time, long sinceMicros, long now, long wall) {
        this.uuid = uuid;
        this.view = view;
        this.time = time;
        this.readAt = now;
        this.readAtWall = wall;
        this.counters = new DeviceCounters(uuid, view, sinceMicros);
        this.processes = new ProcessTable(uuid, view);
        this.reading = new DeviceReading(uuid, view, wall - (now - sinceMicros));
        this.checks = new BasisChecks(view, reading, selector);
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
     * Reads the device: its history before its rows, so that no process is without its row that was
     * caught and lives. Any call may hang for as long as it likes, so what was measured ends when
     * the history was read.
     *
     * @return what the owner of the library has to do; {@link Remedy#NONE} when all is well
     */
    Remedy read(Nvml nvml, Optional<DriverVersion> driver, int visible) {
        if (pinned != null) {
            return Remedy.NONE;
        }
        ticks++;
        boolean isSplit = selector.current() == Basis.DEVICE_SPLIT;
        reading.readList(nvml, handle, isSplit, time.monotonicMicros());
        String sole = view.soleOwner(uuid, visible);
        reading.history.read(nvml, handle, time.wallMicros());
        readAt = time.monotonicMicros();
        readAtWall = time.wallMicros();
        reading.askRows(nvml, handle);
        reading.rowsLaterMicros = time.monotonicMicros() - readAt;
        reading.cleanRows(nvml, handle, visible, time.monotonicMicros(), time.wallMicros());
        Remedy remedy = worst(reading.rowsAnswer, reading.listAnswer);
        switch (remedy) {
            case REINITIALISE, DEVICE_GONE, LEAVE -> {
                return remedy;
            }
            default -> {
                if (reading.isBridged()) {
                    return Remedy.NONE;
                }
            }
        }
        listProvesIdle =
                reading.listAnswer.ok() && reading.list.count == 0 && view.listIsWhole(driver);
        tellsProcesses =
                view.resident() == null
                        && reading.listAnswer.ok()
                        && view.refusesProcess(driver, reading.everJoined) == null;
        checks.judgeProcess(driver, sole, readAt);
        checks.judgeDevice(sole, readAt);
        return remedy == Remedy.ACCESS_DOUBTFUL ? remedy : Remedy.NONE;
    }

    /** The graver of two remedies; they are declared in that order. */
    private static Remedy worst(NvmlReturn rows, NvmlReturn list) {
        return rows.remedy().compareTo(list.remedy()) >= 0 ? rows.remedy() : list.remedy();
    }

    /** Turns what was read into counters, up to when it was read. */
    void count(int visible) {
        long now = readAt;
        long wall = readAtWall;
        if (pinned != null) {
            return;
        }
        if (reading.isBridged()) {
            counters.settleStalled(now);
            return;
        }
        Basis basis = selector.settle(now);
        if (reading.takeListFresh()) {
            counters.notePresence(reading.list, now);
            if (tellsProcesses) {
                processes.list(reading.list, now);
            } else {
                processes.clear();
            }
        }
        if (basis != Basis.PROCESS) {
            processes.unwatched();
        }
        long busy = 0;
        long device = DeviceHistory.UNKNOWN;
        // The ring remembers what belongs to a process whose owner is not known yet.
        if (reading.rowsReady || basis != Basis.PROCESS) {
            device = reading.history.take(wall, uncoveredUpTo(now, wall));
        }
        if (reading.rowsReady) {
            boolean counted = basis == Basis.PROCESS && !reading.filter.isAmbiguous();
            String sole = listProvesIdle ? null : view.soleOwner(uuid, visible);
            busy = counters.takeRows(reading, counted, device, sole, now);
            if (counted) {
                processes.note(reading, busy);
                // Where the device's history does not answer it may have been busy all the time.
                counters.busyAtMost(
                        device < 0 ? 100 * reading.history.window() : device,
                        view.soleOwner(uuid, visible));
            }
        }
        checks.compare(busy, device, ticks % CHECK_EVERY_TICKS == 0, now, wall);
        switch (basis) {
            case PROCESS -> {
                if (reading.filter.isAmbiguous()) {
                    // A row that may be ours was dropped, so this stretch was not measured.
                    counters.uncovered(now);
                } else if (reading.rowsReady) {
                    counters.covered(basis, now);
                } else {
                    counters.settleStalled(now);
                }
            }
            case DEVICE, DEVICE_SPLIT -> {
                String sole = view.soleOwner(uuid, visible);
                takeDevice(basis, basis == Basis.DEVICE ? sole : null, device, now);
                counters.busyAtMost(Math.max(0, device), sole);
            }
            case ALLOCATION -> counters.uncovered(now);
        }
    }

    /** Since when time can be covered at all, by the wall clock that samples are dated by. */
    private long uncoveredUpTo(long now, long wall) {
        return wall - (now - counters.uncoveredUpTo());
    }

    /** Time of a device that cannot be reached is uncovered. */
    void countUnreachable() {
        if (pinned != null) {
            selector.refuseAll(pinned);
            if (everReachable) {
                selector.settle(time.monotonicMicros());
            }
            counters.uncovered(time.monotonicMicros());
            processes.clear();
        }
    }

    private void takeDevice(Basis basis, @Nullable String sole, long device, long now) {
        boolean silent =
                reading.history.isEmpty() && counters.unsettledFor(now) < IDLE_AFTER_MICROS;
        if (device < 0 || silent) {
            counters.settleStalled(now);
            return;
        }
        if (listProvesIdle) {
            // For instance memory scrubbing while the driver starts: busy, and nobody's work.
            counters.nobodys(device);
        } else if (sole != null) {
            counters.allOf(sole, device, reading.memoryUsed);
        } else {
            counters.split(device);
        }
        counters.covered(basis, now);
    }

    /** Pod by pod, what runs on it; null while that is not known. */
    @Nullable List<PodProcesses> processes(long now) {
        return processes.isKnown(now) ? processes.byPod(index) : null;
    }

    /** The device as a whole, for dashboards: gauges, not counters. */
    DeviceState state() {
        return new DeviceState(
                uuid, name, selector.current(), checks.busyPercent(), reading.memoryUsed);
    }

    /** What a pod did here, as a report has it. */
    DeviceUse use(PodCounters pod, @Nullable String stalled, long now) {
        if (pod.lives()) {
            pod.noteBasis(
                    stalled == null ? selector.current() : Basis.ALLOCATION,
                    stalled == null ? reason() : stalled);
        }
        return pod.use(uuid, now);
    }

    private String reason() {
        return selector.current() == Basis.PROCESS && reading.history.isUnknown()
                ? "the device's history does not answer, and percents alone can count too much"
                : selector.reason();
    }

    Snapshot.Device snapshot() {
        return counters.snapshot(
                Math.max(
                        reading.history.from,
                        uncoveredUpTo(time.monotonicMicros(), time.wallMicros())));
    }

    void restore(Snapshot.Device snapshot) {
        reading.history.from = snapshot.rowsFrom();
        counters.restore(snapshot);
    }
}
