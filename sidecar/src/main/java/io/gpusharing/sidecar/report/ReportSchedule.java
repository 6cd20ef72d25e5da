package io.gpusharing.sidecar.report;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * When the next report is due. Pure but for its dice: many meters start in one second and must not
 * report in one second.
 */
public final class ReportSchedule {

    private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(60);
    private static final Duration HEARTBEAT = Duration.ofMinutes(5);
    private static final Duration MOST_ASKED = Duration.ofMinutes(5);
    private static final double JITTER = 0.2;

    private final Duration period;
    private final RandomGenerator dice;
    private Duration backoff = Duration.ZERO;

    /**
     * @param period between reports when all is well
     */
    public ReportSchedule(Duration period, RandomGenerator dice) {
        this.period = period;
        this.dice = dice;
    }

    /** How long to wait after this answer; within 20 percent of the plan. */
    public Duration after(Answer answer) {
        return switch (answer) {
            case Answer.Taken taken -> {
                backoff = Duration.ZERO;
                yield jittered(taken.mode() == Answer.Mode.HEARTBEAT ? HEARTBEAT : period);
            }
            case Answer.Refused refused -> jittered(longer());
            case Answer.Unavailable unavailable -> {
                Duration asked = unavailable.retryAfter();
                Duration wait = longer();
                // The timekeeper may ask for more patience, within reason.
                yield asked != null && asked.compareTo(wait) > 0
                        ? jittered(asked.compareTo(MOST_ASKED) > 0 ? MOST_ASKED : asked)
                        : jittered(wait);
            }
        };
    }

    private Duration longer() {
        Duration next = backoff.isZero() ? period : backoff.multipliedBy(2);
        Duration cap = period.compareTo(LONGEST_BACKOFF) > 0 ? period : LONGEST_BACKOFF;
        backoff = next.compareTo(cap) > 0 ? cap : next;
        return backoff;
    }

    private Duration jittered(Duration plan) {
        double factor = 1 - JITTER + 2 * JITTER * dice.nextDouble();
        return Duration.ofNanos((long) (plan.toNanos() * factor));
    }
}
