package io.gpusharing.deviceplugin.start;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * How long and how often to try again.
 *
 * @param sleep waits between two tries
 */
public record Pacing(InstantSource clock, Sleep sleep) {

    /** Much shorter than the kubelet's own pauses, and cheap. */
    private static final Duration BETWEEN = Duration.ofMillis(100);

    /** The machine's clock. */
    public static final Pacing REAL = new Pacing(InstantSource.system(), Thread::sleep);

    /** Lets time pass. */
    public interface Sleep {
        void sleep(Duration time) throws InterruptedException;
    }

    /** An instant after which it is too late. */
    record Deadline(InstantSource clock, Instant at) {
        /** This one, or an earlier one. */
        Deadline orAt(Instant other) {
            return other.isBefore(at) ? new Deadline(clock, other) : this;
        }

        boolean isOver() {
            return !clock.instant().isBefore(at);
        }
    }

    Deadline deadline(Duration most) {
        return new Deadline(clock, clock.instant().plus(most));
    }

    void pause() throws InterruptedException {
        sleep.sleep(BETWEEN);
    }
}
