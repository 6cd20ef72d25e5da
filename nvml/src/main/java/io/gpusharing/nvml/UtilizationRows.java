package io.gpusharing.nvml;

/**
 * What one call of {@code nvmlDeviceGetProcessUtilization} returned, in reused arrays. Unsigned
 * 32-bit values stand here as longs of 0..4294967295.
 */
public final class UtilizationRows {

    /** Pids per row, in whatever process namespace the driver uses. */
    public long[] pid = new long[0];

    /** Microseconds of CPU wall time. */
    public long[] timestamp = new long[0];

    /** Percent of the window that the process kept the multiprocessors busy. */
    public long[] sm = new long[0];

    /** How many rows are valid. */
    public int count;

    /** Empty, until a call fills it. */
    public UtilizationRows() {}

    void clear(int capacity) {
        count = 0;
        if (pid.length < capacity) {
            pid = new long[capacity];
            timestamp = new long[capacity];
            sm = new long[capacity];
        }
    }

    void add(long rowPid, long rowTimestamp, long rowSm) {
        pid[count] = rowPid;
        timestamp[count] = rowTimestamp;
        sm[count] = rowSm;
        count++;
    }
}
