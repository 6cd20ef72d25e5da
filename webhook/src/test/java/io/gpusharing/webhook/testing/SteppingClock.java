package io.gpusharing.webhook.testing;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that goes when it is told to. */
public final class SteppingClock extends Clock {

    private volatile Instant now;

    /** Stands at {@code start}. */
    public SteppingClock(Instant start) {
        this.now = start;
    }

    /** Lets time pass, or jump back. */
    public void step(Duration by) {
        now = now.plus(by);
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
        return this;
    }
}
