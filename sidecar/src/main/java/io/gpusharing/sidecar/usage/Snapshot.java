package io.gpusharing.sidecar.usage;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a meter remembers over a restart of its container.
 *
 * @param bootId the kernel's name of the boot whose monotonic clock the instants refer to
 * @param startedMicros when the run began
 * @param savedMicros when this was written
 */
public record Snapshot(String bootId, long startedMicros, long savedMicros, List<Device> devices) {

    /**
     * One device.
     *
     * @param settledMicros up to when time is covered or uncovered for good, monotonic
     * @param rowsFrom the newest sample that was counted, by the driver's clock
     * @param unattributedHundredths busy time of no pod, in hundredths of a microsecond
     */
    public record Device(
            String uuid,
            long settledMicros,
            long rowsFrom,
            long unattributedHundredths,
            List<Pod> pods) {}

    /**
     * One pod on the device.
     *
     * @param name null where it is not known
     * @param measuredBy the basis of the last stretch of time that was measured
     * @param lastPresentMicros when a process of it was last seen, monotonic
     * @param busyHundredths busy time in hundredths of a microsecond, by the basis it was counted
     *     on
     * @param atMostHundredths the most that it can have been
     * @param doubtfulCovered of time since the pod seemed to end, which is its time if it comes
     *     back
     */
    public record Pod(
            String uid,
            @Nullable PodName name,
            Basis measuredBy,
            long lastPresentMicros,
            Map<Basis, Long> busyHundredths,
            long atMostHundredths,
            long memoryByteSeconds,
            long coveredMicros,
            long uncoveredMicros,
            long doubtfulCovered,
            long doubtfulUncovered) {}

    /**
     * Whether the counters may go on in a process that starts now: only under the same boot is the
     * monotonic clock the same.
     */
    public boolean goesOn(String currentBootId, long nowMicros) {
        return !bootId.isEmpty() && bootId.equals(currentBootId) && savedMicros <= nowMicros;
    }
}
