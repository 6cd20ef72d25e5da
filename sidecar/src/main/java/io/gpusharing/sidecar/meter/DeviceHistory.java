package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.DeviceSamples;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;

/** A device's own history of how busy it was ({@code nvmlDeviceGetSamples}), sample by sample. */
final class DeviceHistory {

    /** Nobody knows how busy the device was. */
    static final long UNKNOWN = -1;

    private static final long LONGEST_PERIOD_MICROS = 1_000_000;

    private final DeviceSamples samples = new DeviceSamples();

    /** What NVML answered last. */
    NvmlReturn answer = NvmlReturn.NOT_READY;

    /** The newest sample that was counted, by the driver's clock. */
    long from;

    private int oddAnswers;
    private boolean everReported;
    private long window;
    private boolean unknown;

    DeviceHistory(long wallMicros) {
        this.from = wallMicros;
    }

    /** Reads what is newer than {@link #from}, as far back as the ring reaches. */
    void read(Nvml nvml, long handle, long wall) {
        from = Math.max(from, wall - DeviceReading.RING_MICROS);
        answer = nvml.deviceSamples(handle, from, samples);
        if (!answer.ok()) {
            samples.count = 0;
        }
        oddAnswers = DeviceReading.isOdd(answer) ? oddAnswers + 1 : 0;
        everReported |= oddAnswers == 0;
    }

    /** Whether the driver reported it, be it empty. */
    boolean isReported() {
        return !DeviceReading.isOdd(answer);
    }

    /** Whether it can be relied on, for all that is known. */
    boolean works() {
        return oddAnswers < DeviceReading.ODD_ANSWERS_BEFORE_FALL && everReported;
    }

    boolean isEmpty() {
        return samples.count == 0;
    }

    /** The length of what {@link #take} took last, in microseconds. */
    long window() {
        return window;
    }

    /** Whether anything ran in the samples read. */
    boolean isBusy() {
        for (int i = 0; i < samples.count; i++) {
            if (samples.value[i] > 0) {
                return true;
            }
        }
        return false;
    }

    /** How many odd answers were given in a row. */
    int oddAnswers() {
        return oddAnswers;
    }

    /** Whether the driver told nothing of the stretch that was taken last. */
    boolean isUnknown() {
        return unknown;
    }

    /**
     * Busy hundredths of a microsecond in the samples read, which are counted from now on; {@link
     * #UNKNOWN} where the driver reports none.
     *
     * @param earliest what lies before is not counted, by the driver's clock
     */
    long take(long wall, long earliest) {
        from = Math.max(from, Math.max(earliest, wall - DeviceReading.RING_MICROS));
        long before = from;
        long busy = 0;
        for (int i = 0; i < samples.count; i++) {
            long at = samples.timestamp[i];
            if (at <= from || DeviceReading.isFuture(at, wall) || samples.value[i] > 100) {
                continue;
            }
            // The driver may have slept before it.
            busy += Math.min(at - from, LONGEST_PERIOD_MICROS) * samples.value[i];
            from = at;
        }
        // Also an idle GPU has new samples all the time.
        boolean silent = from == before && (unknown || wall - from >= DeviceReading.RING_MICROS);
        unknown = silent || !isReported();
        if (unknown) {
            from = wall;
        }
        window = from - before;
        return unknown ? UNKNOWN : busy;
    }
}
