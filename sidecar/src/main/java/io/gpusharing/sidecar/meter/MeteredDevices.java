package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.sidecar.attribution.Viewpoint;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices that NVML lists, each with its meter. One that is gone is kept, and is uncovered
 * until it is back. Changed by the NVML thread; the list grows under the meter's lock alone.
 */
final class MeteredDevices {

    /** Names the GPU of a pod where none can be seen. */
    static final String UNKNOWN = "unknown";

    private static final long DISCOVER_EVERY_MICROS = 60_000_000;
    private static final long LOST_DISCOVER_MICROS = 30_000_000;

    private final Viewpoint view;
    private final TimeSource time;
    private final Object lock;
    private final List<DeviceMeter> devices = new ArrayList<>();
    private final DeviceMeter unseen;
    private volatile boolean whole;
    private long discoverAt;
    private long startedMicros;

    /**
     * @param lock of all counters
     * @param startedMicros when the run began, monotonic
     */
    MeteredDevices(
            Viewpoint view, TimeSource time, Object lock, long startedMicros, long now, long wall) {
        this.view = view;
        this.time = time;
        this.lock = lock;
        this.startedMicros = startedMicros;
        this.unseen = new DeviceMeter(UNKNOWN, view, time, startedMicros, now, wall);
    }

    /** When the run of counters began, monotonic. */
    long startedMicros() {
        return startedMicros;
    }

    /** All that were ever found. */
    List<DeviceMeter> all() {
        return devices;
    }

    /** Stands for the GPU of a pod where none can be seen. */
    DeviceMeter unseen() {
        return unseen;
    }

    /**
     * Whether the last search found all devices, and each can be looked at. Safe from any thread.
     */
    boolean isWhole() {
        return whole;
    }

    /** How many answer. */
    int reachable() {
        int reachable = 0;
        for (int i = 0; i < devices.size(); i++) {
            reachable += devices.get(i).isReachable() ? 1 : 0;
        }
        return reachable;
    }

    /** None can be metered, and why. */
    void unreachable(String reason) {
        unseen.unreachable(reason);
        for (DeviceMeter device : devices) {
            device.unreachable(reason);
        }
    }

    /** A new run of counters. */
    void beginAnew(long now) {
        startedMicros = now;
        unseen.counters.beginAnew(now);
        for (DeviceMeter device : devices) {
            device.counters.beginAnew(now);
        }
    }

    boolean isDiscoveryDue(long now) {
        return now >= discoverAt;
    }

    /** A device was lost: NVML is asked for devices again in half a minute. */
    void discoverSoon(long now) {
        discoverAt = Math.min(discoverAt, now + LOST_DISCOVER_MICROS);
    }

    /** Asks NVML which devices there are. */
    void discover(Nvml nvml, long now, long wall) {
        discoverAt = now + DISCOVER_EVERY_MICROS;
        NvmlReturn answer = nvml.deviceCount();
        int count = answer.ok() ? nvml.result() : 0;
        if (count == 0) {
            unseen.unreachable(
                    answer.ok()
                            ? "NVML sees no GPU in this container"
                            : Refusal.of("the number of devices", answer));
        }
        boolean all = count > 0;
        String gone = "NVML does not list the device any more";
        List<String> found = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            answer = nvml.deviceByIndex(index);
            if (answer.ok()) {
                all &= found(nvml, index, now, wall, found);
            } else {
                all = false;
                gone = Refusal.of("the handle of a device", answer);
                unseen.unreachable(gone);
            }
        }
        whole = all;
        for (DeviceMeter device : devices) {
            if (!found.contains(device.uuid) && device.isReachable()) {
                device.unreachable(gone);
            }
            if (!device.isReachable()) {
                discoverSoon(now);
            }
        }
    }

    /** Whether all of the device can be looked at: not what MIG splits. */
    private boolean found(Nvml nvml, int number, long now, long wall, List<String> found) {
        long handle = nvml.handle();
        if (nvml.migMode(handle).ok() && nvml.result() == 1) {
            int max = nvml.migMaxCount(handle).ok() ? nvml.result() : 0;
            for (int index = 0; index < max; index++) {
                // Indices have holes, and an instance may be destroyed meanwhile.
                if (nvml.migByIndex(handle, index).ok()) {
                    String uuid = nvml.uuid(nvml.handle());
                    if (uuid != null) {
                        found.add(uuid);
                        device(uuid, now, wall)
                                .unreachable(
                                        "a MIG instance, whose own counters were not seen on"
                                                + " hardware yet");
                    }
                }
            }
            return false;
        }
        String uuid = nvml.uuid(handle);
        if (uuid == null || uuid.isEmpty()) {
            return false;
        }
        found.add(uuid);
        DeviceMeter device = device(uuid, now, wall);
        device.reachable(handle);
        device.index = number;
        if (device.name.isEmpty()) {
            device.name = requireNonNullElse(nvml.name(handle), "");
        }
        return true;
    }

    /** The device of this UUID, from now on if it is new. */
    DeviceMeter device(String uuid, long now, long wall) {
        synchronized (lock) {
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
    }
}
