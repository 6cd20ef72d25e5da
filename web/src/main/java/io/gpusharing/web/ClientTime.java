package io.gpusharing.web;

import java.time.Duration;

/**
 * How much of a handshake's time is its client's: the time in which the server waited for the
 * client, and not the time in which the client waited for the server. Instants are those of {@link
 * System#nanoTime}.
 */
final class ClientTime {

    /** A client's hello, another one where the first names no group that we have, and its end. */
    private static final int MESSAGES = 3;

    /** Each part takes a thread, however soon it comes. A handshake has some thirty at most. */
    private static final Duration LEAST = Duration.ofMillis(10);

    private final Duration timeout;
    private long waitsSince;
    private long nanos;

    /**
     * @param timeout of one message; not positive if there is none
     * @param now since when the server waits
     */
    ClientTime(Duration timeout, long now) {
        this.timeout = timeout;
        waitsSince = now;
    }

    /** The server has done what there was to do, and waits. */
    void waits(long now) {
        waitsSince = now;
    }

    /** A message of the client has come, or a part of one. */
    void came(long now) {
        nanos += Math.max(now - waitsSince, LEAST.toNanos());
        waitsSince = now;
    }

    /**
     * @return whether it is more than all messages of a handshake may take
     */
    boolean isOver() {
        return timeout.isPositive() && nanos > timeout.multipliedBy(MESSAGES).toNanos();
    }
}
