package io.gpusharing.timekeeper.statement;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.budget.account.AccountStatement.BalanceChange;
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
            balance("Opening", span.from(), statement.opening());
            for (BalanceChange it : statement.changes()) {
                row(
                        it.kind(),
                        it.at(),
                        it.at(),
                        null,
                        null,
                        null,
                        it.amount(),
                        it.source(),
                        null,
                        null);
            }
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
            balance("Closing", span.to(), statement.closing());
        }
    }

    private void balance(String kind, Instant at, GpuTime amount) {
        row(kind, at, at, null, null, null, amount.microGpuSeconds(), null, null, null);
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
