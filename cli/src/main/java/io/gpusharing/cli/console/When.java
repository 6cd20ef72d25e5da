package io.gpusharing.cli.console;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;

/** Instants as people write them. */
public final class When {

    private When() {}

    /**
     * Reads one.
     *
     * @param option by which it was given
     * @param text a day, which begins in UTC, or an instant
     * @throws Failure with what would be legal
     */
    public static Instant read(String option, String text) {
        try {
            return text.contains("T")
                    ? Instant.parse(text)
                    : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
        } catch (DateTimeParseException e) {
            throw new Failure(
                    "%s is %s; write a day as 2026-11-01, or an instant as 2026-11-01T12:00:00Z"
                            .formatted(option, text));
        }
    }
}
