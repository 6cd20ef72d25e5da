package io.gpusharing.budget;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of calendar time with its own allowance: [start, end).
 *
 * @param end null for a period that never ends
 */
public record Period(Instant start, @Nullable Instant end) {

    /** Whether an instant lies in it. */
    public boolean contains(Instant instant) {
        return !instant.isBefore(start) && (end == null || instant.isBefore(end));
    }
}
