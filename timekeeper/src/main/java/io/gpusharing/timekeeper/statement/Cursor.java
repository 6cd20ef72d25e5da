package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.statement.StatementLine.Kind;
import io.gpusharing.timekeeper.statement.StatementLine.Place;
import java.time.Instant;
import java.util.UUID;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** A place in a statement as it stands in an address. */
final class Cursor {

    private Cursor() {}

    static String of(Place place) {
        return "%d_%s_%s_%s"
                .formatted(
                        place.hour().getEpochSecond(),
                        place.pod(),
                        place.kind(),
                        place.correction());
    }

    /**
     * Reads a place.
     *
     * @throws ResponseStatusException 400 if it is none of ours
     */
    static Place place(String text) {
        String[] parts = text.split("_", -1);
        try {
            if (parts.length == 4 && parts[1].matches("[0-9a-f]{32}")) {
                // 32 bits are enough until 2106, and keep out what no database knows.
                int hour = Integer.parseUnsignedInt(parts[0]);
                return new Place(
                        Instant.ofEpochSecond(Integer.toUnsignedLong(hour)),
                        parts[1],
                        Kind.valueOf(parts[2]),
                        UUID.fromString(parts[3]));
            }
        } catch (IllegalArgumentException e) {
            throw unreadable(text);
        }
        throw unreadable(text);
    }

    /** 400: a place that we never handed out. */
    static ResponseStatusException unreadable(String text) {
        return new ResponseStatusException(
                HttpStatus.BAD_REQUEST,
                "after is taken from the header Link of the page before, not " + text);
    }
}
