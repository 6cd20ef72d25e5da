package io.gpusharing.nvml.fake;

import io.gpusharing.nvml.TimeSource;
import java.time.Duration;

/** A clock that moves when a test says so. */
@SuppressWarnings("NonAtomicVolatileUpdate") // One thread advances it, others only read.
public final class VirtualTime implements TimeSource {

    private volatile long monotonic = 1_000_000_000L;
    private volatile long wallOffset = 1_790_000_000_000_000L;

    /** Lets time pass. */
    public void pass(Duration length) {
        monotonic += length.toNanos() / 1_000;
    }

    /** Lets time pass, in microseconds. */
    public void passMicros(long micros) {
        monotonic += micros;
    }

    @Override
    public void pauseMicros(long micros) {
        monotonic += micros;
    }

    /** Sets the wall clock forward or back; the monotonic one does not notice. */
    public void setWallBy(Duration jump) {
        wallOffset += jump.toNanos() / 1_000;
    }

    @Override
    public long monotonicMicros() {
        return monotonic;
    }

    @Override
    public long wallMicros() {
        return monotonic + wallOffset;
    }
}
