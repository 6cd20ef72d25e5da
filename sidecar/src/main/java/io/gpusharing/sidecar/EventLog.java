package io.gpusharing.sidecar;

import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
     * @param context key, value, key, value…
     */
    void event(String message, @Nullable Object... context) {
        StringBuilder line = new StringBuilder(160);
        line.append(Instant.now().truncatedTo(ChronoUnit.MILLIS)).append(' ').append(message);
        for (int i = 0; i + 1 < context.length; i += 2) {
            String value = String.valueOf(context[i + 1]).replace('\n', ' ');
            line.append(' ').append(context[i]).append('=');
            line.append(value.indexOf(' ') < 0 ? value : '"' + value.replace('"', '\'') + '"');
        }
        out.println(line);
    }
}
