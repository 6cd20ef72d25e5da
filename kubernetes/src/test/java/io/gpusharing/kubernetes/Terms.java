package io.gpusharing.kubernetes;

import java.time.Instant;

/** A leadership that a test begins and ends. */
public final class Terms {

    private final Leadership leadership = new Leadership(() -> Instant.EPOCH);

    public Leadership leadership() {
        return leadership;
    }

    /** The lease is ours from now on. */
    public void begin() {
        leadership.hold(Instant.MAX);
    }

    /** Another replica has it. */
    public void end() {
        leadership.lose();
    }
}
