package io.gpusharing.nvml;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.locks.LockSupport;

/** The two clocks of a meter: one for lengths, one only for what NVML calls last seen. */
public interface TimeSource {

    /** Microseconds that never go back, from an origin that is fixed while the machine runs. */
    long monotonicMicros();

    /** Microseconds since 1970 by the wall clock, which may be set at any time. */
    long wallMicros();

    /** Waits, and maybe less if the process ends. */
    void pauseMicros(long micros);

    /** The machine's clocks. Linux' monotonic clock has one origin for all processes of a boot. */
    TimeSource SYSTEM =
            new TimeSource() {
                @Override
                public long monotonicMicros() {
                    return System.nanoTime() / 1_000;
                }

                @Override
                public long wallMicros() {
                    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
                }

                @Override
                public void pauseMicros(long micros) {
                    LockSupport.parkNanos(micros * 1_000);
                }
            };
}
