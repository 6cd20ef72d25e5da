package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlCall;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.Remedy;
import io.gpusharing.nvml.TimeSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All devices, one thread: opens NVML, finds the devices, ticks. Reports read the counters from
 * another thread at any time, also while a call into the driver hangs.
 */
public final class Meter implements Counters {

    /** Stands for the GPU of a pod where none can be seen. */
    public static final String UNKNOWN_DEVICE = "unknown";

    private static final long RING = DeviceReading.RING_MICROS;
    private static final long DISCOVER_EVERY_MICROS = 60_000_000;
    private static final long LOST_DISCOVER_MICROS = 30_000_000;
    private static final long WALL_JUMP_MICROS = 2_000_000;

    private final NvmlAccess access;
    private final Viewpoint view;
    private final TimeSource time;
    private final String bootId;
    private final MeterEvents events;
    private final Object lock = new Object();
    private final List<DeviceMeter> devices = new ArrayList<>();
    private final DeviceMeter unseen;

    private volatile boolean devicesChanged;
    private boolean reinitialised;
    private long discoverAt;
    private long wallOffset;
    private long startedMicros;

    /**
     * @param bootId the kernel's name of this boot, empty where unknown
     * @param snapshot what an earlier process of this boot knew, or null
     */
    public Meter(
            NvmlSource source,
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
        this.startedMicros = snapshot == null ? now : snapshot.startedMicros();
        this.unseen = new DeviceMeter(UNKNOWN_DEVICE, view, time, startedMicros, now, wall);
        if (snapshot != null) {
            for (Snapshot.Device remembered : snapshot.devices()) {
                device(remembered.uuid(), now, wall).restore(remembered);
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
            if (now >= discoverAt || devicesChanged) {
                devicesChanged = false;
                discover(nvml, now, wall);
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
        int visible = visible();
        int doubtful = 0;
        for (int i = 0; i < devices.size(); i++) {
            DeviceMeter device = devices.get(i);
            Remedy remedy = device.read(nvml, access.driver(), visible);
            if (remedy == Remedy.DEVICE_GONE) {
                device.unreachable(Refusal.of("the device", device.reading.rowsAnswer));
                long now = time.monotonicMicros();
                discoverAt = Math.min(discoverAt, now + LOST_DISCOVER_MICROS);
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
        boolean allDoubtful = doubtful > 0 && doubtful == visible();
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
                unreachable(reason);
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
                unseen.countUnreachable();
            }
        }
    }

    private void announce() {
        for (int i = 0; i < devices.size(); i++) {
            DeviceMeter device = devices.get(i);
            Basis basis = device.ladder.current();
            if (basis != device.announced) {
                device.announced = basis;
                events.basisChanged(device.uuid, basis, device.ladder.reason());
            }
        }
    }

    private int visible() {
        int visible = 0;
        for (int i = 0; i < devices.size(); i++) {
            visible += devices.get(i).isReachable() ? 1 : 0;
        }
        return visible;
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
            discover(nvml, now, wall);
        } else {
            unreachable(refusal);
        }
    }

    private void unreachable(String reason) {
        unseen.unreachable(reason);
        for (DeviceMeter device : devices) {
            device.unreachable(reason);
        }
    }

    private void discover(Nvml nvml, long now, long wall) {
        discoverAt = now + DISCOVER_EVERY_MICROS;
        NvmlReturn answer = nvml.deviceCount();
        int count = answer.ok() ? nvml.result() : 0;
        if (count == 0) {
            unseen.unreachable(
                    answer.ok()
                            ? "NVML sees no GPU in this container"
                            : Refusal.of("the number of devices", answer));
        }
        String gone = "NVML does not list the device any more";
        List<String> found = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            answer = nvml.deviceByIndex(index);
            if (answer.ok()) {
                found(nvml, nvml.handle(), now, wall, found);
            } else {
                gone = Refusal.of("the handle of a device", answer);
                unseen.unreachable(gone);
            }
        }
        for (DeviceMeter device : devices) {
            if (!found.contains(device.uuid) && device.isReachable()) {
                device.unreachable(gone);
            }
            if (!device.isReachable()) {
                discoverAt = Math.min(discoverAt, now + LOST_DISCOVER_MICROS);
            }
        }
    }

    private void found(Nvml nvml, long handle, long now, long wall, List<String> found) {
        if (nvml.migMode(handle).ok() && nvml.result() == 1) {
            int most = nvml.migMaxCount(handle).ok() ? nvml.result() : 0;
            for (int index = 0; index < most; index++) {
                // Indices have holes, and an instance may go while we look.
                if (nvml.migByIndex(handle, index).ok()) {
                    String uuid = nvml.uuid(nvml.handle());
                    if (uuid != null) {
                        found.add(uuid);
                        at(uuid, now, wall)
                                .unreachable(
                                        "a MIG instance, whose own counters were not seen on"
                                                + " hardware yet");
                    }
                }
            }
            return;
        }
        String uuid = nvml.uuid(handle);
        if (uuid != null && !uuid.isEmpty()) {
            found.add(uuid);
            DeviceMeter device = at(uuid, now, wall);
            device.reachable(handle);
            if (device.name.isEmpty()) {
                device.name = requireNonNullElse(nvml.name(handle), "");
            }
        }
    }

    private DeviceMeter at(String uuid, long now, long wall) {
        synchronized (lock) {
            return device(uuid, now, wall);
        }
    }

    private DeviceMeter device(String uuid, long now, long wall) {
        for (DeviceMeter device : devices) {
            if (device.uuid.equals(uuid)) {
                return device;
            }
        }
        // In a pod, time before the device was found counts too: as uncovered.
        long since = view.resident() == null ? now : startedMicros;
        DeviceMeter device = new DeviceMeter(uuid, view, time, since, now, wall);
        devices.add(device);
        return device;
    }

    @Override
    public Usage usage() {
        synchronized (lock) {
            long now = time.monotonicMicros();
            Map<String, List<DeviceUse>> pods = new LinkedHashMap<>();
            List<Usage.Unattributed> unattributed = new ArrayList<>();
            boolean anyUsed = devices.stream().anyMatch(device -> device.tallies.everUsed());
            for (DeviceMeter device : devices.isEmpty() ? List.of(unseen) : devices) {
                String stalled = stalled(device, now);
                device.tallies.settleStalled(now);
                // A sidecar may see every GPU of the node; those its pod never touched are not its
                // own. Until one was touched nobody knows.
                if (view.resident() == null || !anyUsed || device.tallies.everUsed()) {
                    for (Tally tally : device.tallies.all()) {
                        pods.computeIfAbsent(tally.podUid, uid -> new ArrayList<>())
                                .add(device.use(tally, stalled));
                    }
                }
                if (view.countsUnattributed()) {
                    unattributed.add(
                            new Usage.Unattributed(
                                    device.uuid, device.tallies.unattributedMicros()));
                }
            }
            List<PodUse> uses = new ArrayList<>();
            List<Usage.Unasked> unasked = new ArrayList<>();
            pods.forEach((uid, list) -> {
                uses.add(new PodUse(uid, List.copyOf(list)));
                Usage.Unasked pod = view.unasked(uid);
                if (pod != null) {
                    unasked.add(pod);
                }
            });
            return new Usage(List.copyOf(uses), List.copyOf(unattributed), List.copyOf(unasked));
        }
    }

    private @Nullable String stalled(DeviceMeter device, long now) {
        NvmlCall call = inside();
        return call != null && device.tallies.unsettledFor(now) > RING
                ? call.symbols().getFirst() + " has not returned"
                : null;
    }

    /** Rows that could not be true, over all devices. */
    public long droppedRows() {
        synchronized (lock) {
            return devices.stream().mapToLong(device -> device.reading.droppedRows).sum();
        }
    }

    /** Rows that two processes can have meant, over all devices. */
    public long ambiguousRows() {
        synchronized (lock) {
            return devices.stream().mapToLong(device -> device.reading.ambiguousRows).sum();
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
            long now = time.monotonicMicros();
            startedMicros = now;
            unseen.tallies.beginAnew(now);
            for (DeviceMeter device : devices) {
                device.tallies.beginAnew(now);
            }
        }
    }

    @Override
    public Snapshot snapshot() {
        synchronized (lock) {
            return new Snapshot(
                    bootId,
                    startedMicros,
                    time.monotonicMicros(),
                    devices.stream().map(DeviceMeter::snapshot).toList());
        }
    }
}
