package io.gpusharing.cli.ledger;

import io.gpusharing.cli.console.When;
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
            query.put("from", When.read("--from", from).toString());
        }
        if (to != null) {
            query.put("to", When.read("--to", to).toString());
        }
        return query;
    }
}
