package io.gpusharing.scheduler.pods;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;

/**
 * For how long pods that end are waited for.
 *
 * @param settle how long after its grace a pod may still be there, and by when after that whoever
 *     waits for its room has taken it
 * @param maxGrace for how much grace it is waited
 */
public record EndingRules(Duration settle, Duration maxGrace) {

    /** What is expected at an instant of pods that are being deleted. */
    public Ending at(Instant now) {
        return Ending.at(now, settle, maxGrace);
    }

    /** By when pods have made room that are told to end now, each with its own grace. */
    public Instant settlesAt(Instant now, Stream<Duration> graces) {
        return graces.map(grace -> grace.compareTo(maxGrace) < 0 ? grace : maxGrace)
                .max(Duration::compareTo)
                .map(now::plus)
                .orElse(now)
                .plus(settle);
    }
}
