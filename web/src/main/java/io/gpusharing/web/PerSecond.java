package io.gpusharing.web;

import java.time.Clock;

/** So many a second, and no more: of what strangers could have us do without end. */
public final class PerSecond {

    private final int most;
    private final Clock clock;
    private long second;
    private int begun;

    /**
     * @param most at least 1
     */
    public PerSecond(int most, Clock clock) {
        this.most = most;
        this.clock = clock;
    }

    /** Whether one more may begin now; then it counts as begun. */
    public synchronized boolean mayBegin() {
        long now = clock.instant().getEpochSecond();
        if (now != second) {
            second = now;
            begun = 0;
        }
        return ++begun <= most;
    }
}
