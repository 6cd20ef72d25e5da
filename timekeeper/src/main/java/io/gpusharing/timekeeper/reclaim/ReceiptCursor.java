package io.gpusharing.timekeeper.reclaim;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Where a receipt stands among all: the latest first, and of one instant the highest number.
 *
 * @param number of its plan; 0 without one
 */
public record ReceiptCursor(Instant at, long number, UUID victim)
        implements Comparable<ReceiptCursor> {

    private static final Pattern TEXT =
            Pattern.compile(
                    "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z_\\d{1,18}_UUID"
                            .replace("UUID", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));

    /** Before the first page: later than every receipt. */
    public static final ReceiptCursor FIRST =
            new ReceiptCursor(Instant.parse("9999-12-31T00:00:00Z"), 0, new UUID(0, 0));

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSX").withZone(ZoneOffset.UTC);

    /** As PostgreSQL orders them: a UUID is sixteen bytes without a sign. */
    private static final Comparator<ReceiptCursor> LATEST_FIRST =
            Comparator.comparing(ReceiptCursor::at)
                    .thenComparingLong(ReceiptCursor::number)
                    .thenComparing(cursor -> cursor.victim().toString())
                    .reversed();

    /** Whether a text could be one; the database would take no other. */
    public static boolean isCursor(String text) {
        if (!TEXT.matcher(text).matches()) {
            return false;
        }
        try {
            Instant.parse(text.substring(0, text.indexOf('_')));
            return true;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    static ReceiptCursor parse(String text) {
        String[] parts = text.split("_", -1);
        return new ReceiptCursor(
                Instant.parse(parts[0]), Long.parseLong(parts[1]), UUID.fromString(parts[2]));
    }

    @Override
    public int compareTo(ReceiptCursor other) {
        return LATEST_FIRST.compare(this, other);
    }

    @Override
    public String toString() {
        return "%s_%d_%s".formatted(MICROS.format(at), number, victim);
    }
}
