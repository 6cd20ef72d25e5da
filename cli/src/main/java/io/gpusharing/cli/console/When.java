package io.gpusharing.cli.console;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** Instants as people write them. */
public final class When {

    private When() {}

    /** Whether it says a day and no time: which instant that is depends on a zone. */
    public static boolean isDay(@Nullable String text) {
        return text != null && !text.contains("T");
    }

    /** Reads one whose days begin in UTC, as below. */
    public static Instant read(String option, String text) {
        return read(option, text, ZoneOffset.UTC);
    }

    /**
     * Reads one.
     *
     * @param option by which it was given
     * @param text a day, or an instant
     * @param zone in which the day begins
     * @throws Failure with what would be legal
     */
    public static Instant read(String option, String text, ZoneId zone) {
        try {
            return isDay(text)
                    ? LocalDate.parse(text).atStartOfDay(zone).toInstant()
                    : Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new Failure(
                    "%s is %s; write a day as 2026-11-01, or an instant as 2026-11-01T12:00:00Z"
                            .formatted(option, text));
        }
    }
}
