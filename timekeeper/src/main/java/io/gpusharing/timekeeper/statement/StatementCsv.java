package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.budget.account.AccountStatement;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * A statement as CSV (RFC 4180). Use is negative, and the amounts of all rows but the last add up
 * to that of the last, {@code Closing}.
 */
final class StatementCsv {

    private final PrintWriter out;

    StatementCsv(PrintWriter out) {
        this.out = out;
    }

    /**
     * The head, what was left before, and what changed it besides use.
     *
     * @param statement null for an unlimited budget: then there is nothing to add up to
     */
    void begin(Span span, @Nullable AccountStatement statement) {
        out.print(
                "kind,from,to,namespace,pod,podName,amountMicroGpuSeconds,source,author,correction\r\n");
        if (statement != null) {
            change("Opening", span.from(), statement.opening().microGpuSeconds(), null);
            statement.changes().forEach(it -> change(it.kind(), it.at(), it.amount(), it.source()));
        }
    }

    void line(StatementLine line) {
        row(
                line.kind(),
                line.from(),
                line.to(),
                line.namespace(),
                line.pod(),
                line.podName(),
                -line.used(),
                line.reason(),
                line.author(),
                line.correction());
    }

    void end(Span span, @Nullable AccountStatement statement) {
        if (statement != null) {
            change("Closing", span.to(), statement.closing().microGpuSeconds(), null);
        }
    }

    private void change(Object kind, Instant at, long amount, @Nullable String source) {
        row(kind, at, at, null, null, null, amount, source, null, null);
    }

    private void row(@Nullable Object... cells) {
        var row = new StringJoiner(",", "", "\r\n");
        for (Object cell : cells) {
            row.add(cell instanceof String text ? cell(text) : Objects.toString(cell, ""));
        }
        out.print(row);
    }

    /** Quoted where needed; a spreadsheet must not take somebody's reason for a formula. */
    private static String cell(String text) {
        String safe =
                !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        boolean plain = safe.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? safe : '"' + safe.replace("\"", "\"\"") + '"';
    }
}
