package io.gpusharing.testing;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that advances on request. */
public final class SteppingClock extends Clock {

    private volatile Instant now;

    public SteppingClock(Instant now) {
        this.now = now;
    }

    /** Time passes. */
    public void pass(Duration time) {
        now = now.plus(time);
    }

    /** Goes to an instant, which may be earlier. */
    public void set(Instant instant) {
        now = instant;
    }

    @Override
    public Instant instant() {
        return now;
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("Only instants are asked for");
    }
}
