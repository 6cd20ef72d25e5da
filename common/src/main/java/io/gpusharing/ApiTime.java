package io.gpusharing;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the times that an API server writes. It takes {@code 9999-12-31T23:59:59-01:00} and writes
 * it as {@code 10000-01-01T00:59:59Z}, which Java reads with a sign before it alone.
 */
public final class ApiTime {

    private static final int DIGITS_OF_A_YEAR = 4;

    private ApiTime() {}

    /**
     * The instant that a text names.
     *
     * @throws DateTimeParseException if it names none
     */
    public static Instant read(String text) {
        boolean farYear = text.indexOf('-', 1) > DIGITS_OF_A_YEAR && text.charAt(0) >= '0';
        return Instant.parse(farYear ? "+" + text : text);
    }

    /** The same; null of null. */
    public static @Nullable Instant readPresent(@Nullable String text) {
        return text == null ? null : read(text);
    }
}
