package io.gpusharing.nvml.fake;

/**
 * A process on a GPU.
 *
 * @param device index of its GPU
 * @param hostPid its pid in the machine's first namespace; 0 for the driver's own work, negative
 *     for work that no row reports
 * @param podPid its pid in the metering pod's shared namespace; 0 where it is not of that pod
 * @param podUid the pod it belongs to, for the node's view; empty for none
 * @param memoryBytes GPU memory it holds
 * @param busyPercent share of the GPU while it computes
 * @param onMicros how long it computes at a stretch; 0 means always
 * @param offMicros how long it rests in between
 * @param fromMicros when it starts, after the scenario began
 * @param toMicros when it ends
 */
public record FakeProcess(
        int device,
        long hostPid,
        long podPid,
        String podUid,
        long memoryBytes,
        int busyPercent,
        long onMicros,
        long offMicros,
        long fromMicros,
        long toMicros) {

    /** Whether it runs at this moment. */
    public boolean alive(long micros) {
        return micros >= fromMicros && micros < toMicros;
    }

    /** Busy time in (from, to], in hundredths of a microsecond of a whole GPU. */
    public long busyHundredths(long from, long to) {
        return busyPercent * (computingUpTo(to) - computingUpTo(from));
    }

    private long computingUpTo(long micros) {
        long t = Math.clamp(micros, fromMicros, toMicros) - fromMicros;
        if (onMicros == 0) {
            return t;
        }
        long cycle = onMicros + offMicros;
        return t / cycle * onMicros + Math.min(t % cycle, onMicros);
    }
}
