package io.gpusharing.timekeeper.budget.status;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * So many writes a second, and when those who did not have their turn are looked at again. Belongs
 * to one thread.
 */
final class WritePace {

    private final int perSecond;
    private final Duration longestWait;
    private Instant second = Instant.MIN;
    private int written;
    private int waiting;

    /**
     * @param longestWait after which everybody is looked at again, whatever waits before it
     */
    WritePace(int perSecond, Duration longestWait) {
        this.perSecond = perSecond;
        this.longestWait = longestWait;
    }

    /** All who may want to write are asked once more, those who have waited longest first. */
    void beginRound(Instant now) {
        Instant present = now.truncatedTo(ChronoUnit.SECONDS);
        if (!present.equals(second)) {
            second = present;
            written = 0;
        }
        waiting = 0;
    }

    /** Whether one more may be written now. */
    boolean takesTurn() {
        return written++ < perSecond;
    }

    /**
     * When those of this round who wait already have had their turns. To look at everybody each
     * second would cost more than to write.
     */
    Instant nextTurn() {
        Duration wait = Duration.ofSeconds(1 + waiting++ / perSecond);
        return second.plus(wait.compareTo(longestWait) < 0 ? wait : longestWait);
    }
}
