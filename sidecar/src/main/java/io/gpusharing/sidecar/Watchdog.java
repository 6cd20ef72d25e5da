package io.gpusharing.sidecar;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.NvmlCall;
import org.jspecify.annotations.Nullable;

/**
 * Says when only a new container helps. A call that is stuck in the driver cannot be interrupted, a
 * library that belongs to another driver is replaced only when the container is created again, and
 * so are devices that were taken from it.
 */
final class Watchdog {

    static final long HANGS_TOO_LONG_MICROS = 300_000_000;

    /** Leaving at once would only fill the log: kubelet waits longer and longer in between. */
    static final long STAY_AT_LEAST_MICROS = 30_000_000;

    private final long startedMicros;
    private final DeviceAccess devices;
    private volatile boolean areDevicesLost;

    Watchdog(long startedMicros, DeviceAccess devices) {
        this.startedMicros = startedMicros;
        this.devices = devices;
    }

    /** Looks whether this container has its GPUs still. For the NVML thread: it may hang, too. */
    void lookAtDevices(long nowMicros) {
        areDevicesLost = devices.isLost(nowMicros);
    }

    /**
     * Judges the moment.
     *
     * @param tickMicros when the NVML thread was last seen to go on
     * @param inside the call it is in
     * @param fault what the meter itself says, or null
     * @return null to keep running
     */
    @Nullable String reasonToLeave(
            long nowMicros, long tickMicros, @Nullable NvmlCall inside, @Nullable String fault) {
        if (nowMicros - startedMicros < STAY_AT_LEAST_MICROS) {
            return null;
        }
        if (nowMicros - tickMicros > HANGS_TOO_LONG_MICROS) {
            return "no call into the driver has returned for five minutes; the last was " + inside;
        }
        return fault == null && areDevicesLost ? DeviceAccess.LOST : fault;
    }
}
