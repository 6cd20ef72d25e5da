package io.gpusharing.recount;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads instants as an API server writes them. A kubelet, or whoever may write a status, names
 * {@code 9999-12-31T23:59:59-01:00}; its year is 10000 in UTC, and is written with five digits.
 */
final class Times {

    private static final Pattern FIVE_DIGITS = Pattern.compile("\\d{5,}-.*");

    private Times() {}

    /**
     * An instant.
     *
     * @throws DateTimeParseException if the text names none
     */
    static Instant read(String text) {
        return Instant.parse(FIVE_DIGITS.matcher(text).matches() ? "+" + text : text);
    }

    /**
     * An instant; null where there is none.
     *
     * @throws DateTimeParseException if the text names none
     */
    static @Nullable Instant read(JsonNode text) {
        String written = text.asString("");
        return written.isEmpty() ? null : read(written);
    }
}
