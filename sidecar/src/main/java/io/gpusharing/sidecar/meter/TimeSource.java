package io.gpusharing.sidecar.meter;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The two clocks of a meter: one for lengths, one only for what NVML calls last seen. */
public interface TimeSource {

    /** Microseconds that never go back, from an origin that is fixed while the machine runs. */
    long monotonicMicros();

    /** Microseconds since 1970 by the wall clock, which may be set at any time. */
    long wallMicros();

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
            };
}
