package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlCall;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.Remedy;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.Counters;
import io.gpusharing.sidecar.usage.DeviceState;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Snapshot;
import io.gpusharing.sidecar.usage.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All devices, one thread: opens NVML, finds the devices, ticks. Reports read the counters from
 * another thread at any time, also while a call into the driver hangs.
 */
public final class Meter implements Counters {

    private static final long RING = DeviceReading.RING_MICROS;
    private static final long WALL_JUMP_MICROS = 2_000_000;

    private final NvmlAccess access;
    private final Viewpoint view;
    private final TimeSource time;
    private final String bootId;
    private final MeterEvents events;
    private final Object lock = new Object();
    private final MeteredDevices metered;
    private final List<DeviceMeter> devices;

    private volatile boolean devicesChanged;
    private boolean reinitialised;
    private long wallOffset;

    /**
     * @param bootId the kernel's name of this boot, empty where unknown
     * @param snapshot what an earlier process of this boot knew, or null
     */
    public Meter(
            Supplier<NvmlLibrary> source,
            Viewpoint view,
            TimeSource time,
            String bootId,
            @Nullable Snapshot snapshot,
            MeterEvents events) {
        this.access = new NvmlAccess(source, events);
        this.view = view;
        this.time = time;
        this.bootId = bootId;
        this.events = events;
        long now = time.monotonicMicros();
        long wall = time.wallMicros();
        this.wallOffset = wall - now;
        this.metered =
                new MeteredDevices(
                        view,
                        time,
                        lock,
                        snapshot == null ? now : snapshot.startedMicros(),
                        now,
                        wall);
        this.devices = metered.all();
        if (snapshot != null) {
            for (Snapshot.Device remembered : snapshot.devices()) {
                metered.device(remembered.uuid(), now, wall).restore(remembered);
            }
        }
    }

    /** Why the process should report and leave, or null: only a new container can mend it. */
    public @Nullable String wantsToLeave() {
        return access.wantsToLeave();
    }

    /** The call into the driver that runs right now, or null. */
    public @Nullable NvmlCall inside() {
        Nvml nvml = access.nvml();
        return nvml == null ? null : nvml.inside();
    }

    /** NVML's binding, for its failure counters; null before it was opened. */
    public @Nullable Nvml nvml() {
        return access.nvml();
    }

    /** Lets the next tick search for devices. Safe from any thread. */
    public void devicesChanged() {
        devicesChanged = true;
    }

    /** One round over all devices. Only the NVML thread calls this. */
    public void tick() {
        long now = time.monotonicMicros();
        long wall = time.wallMicros();
        noteWallJump(now, wall);
        if (access.isDue(now)) {
            open(now, wall);
        }
        Nvml nvml = access.usable();
        if (nvml != null) {
            if (metered.isDiscoveryDue(now) || devicesChanged) {
                devicesChanged = false;
                metered.discover(nvml, now, wall);
            }
            Remedy remedy = read(nvml);
            if (remedy == Remedy.REINITIALISE && !reinitialised) {
                reinitialised = true;
                open(now, wall);
                remedy = access.usable() == null ? Remedy.NONE : read(nvml);
            }
            reinitialised = remedy == Remedy.REINITIALISE;
            act(remedy, time.monotonicMicros());
        }
        countUnreachable();
        announce();
    }

    private Remedy read(Nvml nvml) {
        Remedy gravest = Remedy.NONE;
        int visible = metered.reachable();
        int doubtful = 0;
        for (int i = 0; i < devices.size(); i++) {
            DeviceMeter device = devices.get(i);
            Remedy remedy = device.read(nvml, access.driver(), visible);
            if (remedy == Remedy.DEVICE_GONE) {
                device.unreachable(Refusal.of("the device", device.reading.rowsAnswer));
                metered.discoverSoon(time.monotonicMicros());
            }
            if (remedy != Remedy.REINITIALISE) {
                // At once, since the next device's calls may hang.
                synchronized (lock) {
                    device.count(visible);
                }
            }
            if (remedy == Remedy.ACCESS_DOUBTFUL) {
                doubtful++;
            } else {
                gravest = remedy.compareTo(gravest) > 0 ? remedy : gravest;
            }
        }
        // One GPU that answers oddly is that GPU's trouble; all of them are one of access.
        boolean allDoubtful = doubtful > 0 && doubtful == metered.reachable();
        return allDoubtful && gravest.compareTo(Remedy.ACCESS_DOUBTFUL) < 0
                ? Remedy.ACCESS_DOUBTFUL
                : gravest;
    }

    private void act(Remedy remedy, long now) {
        switch (remedy) {
            case LEAVE -> access.leave("NVML belongs to another driver than the kernel runs");
            case ACCESS_DOUBTFUL, REINITIALISE -> {
                // Access may have been revoked (a systemd reload does that to some containers).
                String reason = "NVML answers errors only; access to the GPU may have been revoked";
                access.close(reason, now);
                metered.unreachable(reason);
            }
            default -> {}
        }
    }

    private void countUnreachable() {
        synchronized (lock) {
            for (int i = 0; i < devices.size(); i++) {
                devices.get(i).countUnreachable();
            }
            if (devices.isEmpty()) {
                metered.unseen().countUnreachable();
            }
        }
    }

    private void announce() {
        for (int i = 0; i < devices.size(); i++) {
            DeviceMeter device = devices.get(i);
            Basis basis = device.selector.current();
            if (basis != device.announced) {
                device.announced = basis;
                events.basisChanged(device.uuid, basis, device.selector.reason());
            }
        }
    }

    private void noteWallJump(long now, long wall) {
        long offset = wall - now;
        long jump = offset - wallOffset;
        wallOffset = offset;
        if (Math.abs(jump) > WALL_JUMP_MICROS) {
            for (int i = 0; i < devices.size(); i++) {
                devices.get(i).reading.wallJumped(jump);
            }
            events.clockJumped(jump);
        }
    }

    private void open(long now, long wall) {
        String refusal = access.tryToOpen(now);
        Nvml nvml = access.usable();
        if (nvml != null) {
            metered.discover(nvml, now, wall);
        } else {
            metered.unreachable(refusal);
        }
    }

    @Override
    public Usage usage() {
        synchronized (lock) {
            long now = time.monotonicMicros();
            Map<String, List<DeviceUse>> pods = new LinkedHashMap<>();
            Map<String, PodName> names = new HashMap<>();
            List<Usage.Unattributed> unattributed = new ArrayList<>();
            boolean anyUsed = devices.stream().anyMatch(device -> device.counters.everUsed());
            for (DeviceMeter device : devices.isEmpty() ? List.of(metered.unseen()) : devices) {
                String stalled = stalled(device, now);
                device.counters.settleStalled(now);
                // A sidecar may see every GPU of the node; those its pod never touched are not its
                // own. Until one was touched nobody knows.
                if (view.resident() == null || !anyUsed || device.counters.everUsed()) {
                    for (PodCounters pod : device.counters.all()) {
                        pods.computeIfAbsent(pod.podUid, uid -> new ArrayList<>())
                                .add(device.use(pod, stalled, now));
                        if (pod.name != null) {
                            names.put(pod.podUid, pod.name);
                        }
                    }
                }
                if (view.countsUnattributed()) {
                    unattributed.add(
                            new Usage.Unattributed(
                                    device.uuid, device.counters.unattributedMicros()));
                }
            }
            List<PodUse> uses = new ArrayList<>();
            List<Usage.Unasked> unasked = new ArrayList<>();
            List<Usage.MemoryExceeded> exceeded = new ArrayList<>();
            pods.forEach((uid, list) -> {
                uses.add(new PodUse(uid, names.get(uid), List.copyOf(list)));
                Usage.Unasked pod = view.unasked(uid, list);
                if (pod != null) {
                    unasked.add(pod);
                }
                exceeded.addAll(view.exceeded(uid, list));
            });
            return new Usage(
                    List.copyOf(uses),
                    List.copyOf(unattributed),
                    List.copyOf(unasked),
                    List.copyOf(exceeded),
                    running(now));
        }
    }

    private Usage.Running running(long now) {
        boolean isWhole = metered.isWhole();
        List<PodProcesses> known = new ArrayList<>();
        for (DeviceMeter device : devices) {
            List<PodProcesses> pods = device.processes(now);
            isWhole &= pods != null;
            known.addAll(pods == null ? List.of() : pods);
        }
        return new Usage.Running(isWhole, known);
    }

    private @Nullable String stalled(DeviceMeter device, long now) {
        NvmlCall call = inside();
        return call != null && device.counters.unsettledFor(now) > RING
                ? call.symbols().getFirst() + " has not returned"
                : null;
    }

    /** Rows that could not be true, over all devices. */
    public long droppedRows() {
        synchronized (lock) {
            return devices.stream().mapToLong(device -> device.reading.filter.dropped()).sum();
        }
    }

    /** Rows that two processes can have meant, over all devices. */
    public long ambiguousRows() {
        synchronized (lock) {
            return devices.stream()
                    .mapToLong(device -> device.reading.filter.ambiguousRows())
                    .sum();
        }
    }

    /** The devices as they are now. Safe from any thread. */
    public List<DeviceState> devices() {
        synchronized (lock) {
            return devices.stream().map(DeviceMeter::state).toList();
        }
    }

    @Override
    public void beginAnew() {
        synchronized (lock) {
            metered.beginAnew(time.monotonicMicros());
        }
    }

    @Override
    public Snapshot snapshot() {
        synchronized (lock) {
            return new Snapshot(
                    bootId,
                    metered.startedMicros(),
                    time.monotonicMicros(),
                    devices.stream().map(DeviceMeter::snapshot).toList());
        }
    }
}
