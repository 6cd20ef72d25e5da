package io.gpusharing.sidecar;

import java.io.PrintStream;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * One line per state change: instant, message, context as key=value. A logging framework would cost
 * more memory than the meter.
 */
final class EventLog {

    private final PrintStream out;

    EventLog(PrintStream out) {
        this.out = out;
    }

    /**
     * Writes a line.
     *
     * @param message constant words, for people and for searching
     * @param context key, value, key, value…; an empty value is left out with its key
     */
    void event(String message, @Nullable Object... context) {
        StringBuilder line = new StringBuilder(160);
        appendInstant(line, LocalDateTime.now(ZoneOffset.UTC));
        line.append(' ').append(message);
        for (int i = 0; i + 1 < context.length; i += 2) {
            String value = String.valueOf(context[i + 1]).replace('\n', ' ');
            if (value.isEmpty()) {
                continue;
            }
            line.append(' ').append(context[i]).append('=');
            line.append(value.indexOf(' ') < 0 ? value : '"' + value.replace('"', '\'') + '"');
        }
        out.println(line);
    }

    /** RFC 3339 by hand: a formatter's forty classes would be kept loaded for a line in an hour. */
    static void appendInstant(StringBuilder line, LocalDateTime utc) {
        line.append(utc.toLocalDate()).append('T');
        appendPadded(line, utc.getHour(), 2).append(':');
        appendPadded(line, utc.getMinute(), 2).append(':');
        appendPadded(line, utc.getSecond(), 2).append('.');
        appendPadded(line, utc.getNano() / 1_000_000, 3).append('Z');
    }

    private static StringBuilder appendPadded(StringBuilder line, int number, int digits) {
        String text = Integer.toString(number);
        return line.append("0".repeat(digits - text.length())).append(text);
    }
}
