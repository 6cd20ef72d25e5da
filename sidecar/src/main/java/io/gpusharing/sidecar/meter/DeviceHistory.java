package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.DeviceSamples;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;

/** A device's own history of how busy it was ({@code nvmlDeviceGetSamples}), sample by sample. */
final class DeviceHistory {

    private final DeviceSamples samples = new DeviceSamples();

    /** What NVML answered last. */
    NvmlReturn answer = NvmlReturn.NOT_READY;

    /** The newest sample that was counted, by the driver's clock. */
    long from;

    private int oddAnswers;
    private boolean everReported;

    DeviceHistory(long wallMicros) {
        this.from = wallMicros;
    }

    void read(Nvml nvml, long handle) {
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

    /** Busy hundredths of a microsecond in the samples read, which are counted from now on. */
    long take(long wall) {
        long busy = 0;
        // What lies further back than time is covered is not counted, whatever the driver kept.
        from = Math.max(from, wall - DeviceReading.RING_MICROS);
        for (int i = 0; i < samples.count; i++) {
            long at = samples.timestamp[i];
            if (at <= from || DeviceReading.isFuture(at, wall) || samples.value[i] > 100) {
                continue;
            }
            busy += Math.min(at - from, DeviceReading.RING_MICROS) * samples.value[i];
            from = at;
        }
        return busy;
    }
}
