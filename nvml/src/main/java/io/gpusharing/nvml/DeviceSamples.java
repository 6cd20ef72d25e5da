package io.gpusharing.nvml;

/** The device's own utilization history, oldest first as NVML gives it, in reused arrays. */
public final class DeviceSamples {

    /** Microseconds of CPU wall time. */
    public long[] timestamp = new long[0];

    /** Percent of the sample's period. */
    public long[] value = new long[0];

    /** How many samples are valid. */
    public int count;

    /** Empty, until a call fills it. */
    public DeviceSamples() {}

    void clear(int capacity) {
        count = 0;
        if (timestamp.length < capacity) {
            timestamp = new long[capacity];
            value = new long[capacity];
        }
    }

    void add(long sampleTimestamp, long sampleValue) {
        timestamp[count] = sampleTimestamp;
        value[count] = sampleValue;
        count++;
    }
}
