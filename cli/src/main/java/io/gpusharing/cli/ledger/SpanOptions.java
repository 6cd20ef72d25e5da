package io.gpusharing.cli.ledger;

import io.gpusharing.cli.console.Failure;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Of which time is asked. */
final class SpanOptions {

    @Option(
            names = "--from",
            paramLabel = "WHEN",
            description = "2026-11-01 or 2026-11-01T12:00:00Z, in UTC.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "WHEN", description = "Now without it.")
    private @Nullable String to;

    /** As the ledger is asked; what is not said is left to it. */
    Map<String, String> query() {
        var query = new TreeMap<String, String>();
        if (from != null) {
            query.put("from", instant("--from", from).toString());
        }
        if (to != null) {
            query.put("to", instant("--to", to).toString());
        }
        return query;
    }

    private static Instant instant(String option, String text) {
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
