package io.gpusharing.timekeeper.receipt;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Where a receipt stands among all: the latest first, and of one instant the highest UIDs.
 *
 * @param eviction UID of the {@code GpuEviction}
 * @param victim UID of the pod
 */
public record ReceiptCursor(Instant at, UUID eviction, UUID victim) {

    private static final Pattern TEXT =
            Pattern.compile(
                    "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z_UUID_UUID"
                            .replace("UUID", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));

    /** Before the first page: later than every receipt. */
    static final ReceiptCursor FIRST =
            new ReceiptCursor(
                    Instant.parse("9999-12-31T00:00:00Z"), new UUID(0, 0), new UUID(0, 0));

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSX").withZone(ZoneOffset.UTC);

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
                Instant.parse(parts[0]), UUID.fromString(parts[1]), UUID.fromString(parts[2]));
    }

    @Override
    public String toString() {
        return "%s_%s_%s".formatted(MICROS.format(at), eviction, victim);
    }
}
