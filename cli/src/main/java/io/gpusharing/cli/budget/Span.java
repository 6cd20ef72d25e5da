package io.gpusharing.cli.budget;

import java.time.Duration;
import java.time.Instant;

/** Lengths of time for people: their two largest units, {@code 3m12s} or {@code 9d4h}. */
public final class Span {

    private static final String UNITS = "dhms";

    private Span() {}

    /** How far an instant is from now. */
    static String from(Instant now, Instant at) {
        return at.isAfter(now)
                ? "in " + text(Duration.between(now, at))
                : text(Duration.between(at, now)) + " ago";
    }

    /** For instance {@code 3m12s}. */
    public static String text(Duration length) {
        long[] parts = {
            length.toDays(), length.toHoursPart(), length.toMinutesPart(), length.toSecondsPart()
        };
        int largest = 0;
        while (largest < parts.length - 1 && parts[largest] == 0) {
            largest++;
        }
        int next = largest + 1;
        String text = parts[largest] + UNITS.substring(largest, next);
        return next < parts.length && parts[next] > 0
                ? text + parts[next] + UNITS.charAt(next)
                : text;
    }
}
