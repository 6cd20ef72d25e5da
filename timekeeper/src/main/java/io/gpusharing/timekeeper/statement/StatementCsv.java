package io.gpusharing.timekeeper.statement;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.ledger.Unwatched;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * A statement as CSV (RFC 4180), with each amount in minutes of one whole GPU, rounded, and in
 * micro-GPU-seconds, exactly. Use is negative, and the exact amounts of all rows but the last add
 * up to that of the last, {@code Closing}.
 */
final class StatementCsv {

    private final PrintWriter out;
    private final String budget;

    StatementCsv(PrintWriter out, String budget) {
        this.out = out;
        this.budget = budget;
    }

    /**
     * The head, what was left before, and what changed it besides use.
     *
     * @param statement null for an unlimited budget: then there is nothing to add up to
     */
    void begin(Span span, @Nullable AccountStatement statement) {
        out.print(
                "budget,kind,from,to,namespace,podName,ownerKind,ownerName,model,gpuMinutes,microGpuSeconds,reason,author,pod,correction\r\n");
        if (statement != null) {
            change("Opening", span.from(), statement.opening(), null);
            statement
                    .changes()
                    .forEach(it ->
                            change(it.kind(), it.at(), new GpuTime(it.amount()), it.source()));
        }
    }

    /** A span in which pods may have come and gone: nothing was charged for it. */
    void unwatched(Unwatched span) {
        row(
                "Unwatched",
                span.since(),
                span.until(),
                null,
                null,
                null,
                null,
                null,
                GpuTime.ZERO,
                span.note(),
                null,
                null,
                null);
    }

    void line(StatementLine line) {
        row(
                line.kind(),
                line.from(),
                line.to(),
                line.namespace(),
                line.podName(),
                line.ownerKind(),
                line.ownerName(),
                line.model(),
                new GpuTime(-line.used()),
                line.reason(),
                line.author(),
                line.pod(),
                line.correction());
    }

    void end(Span span, @Nullable AccountStatement statement) {
        if (statement != null) {
            change("Closing", span.to(), statement.closing(), null);
        }
    }

    private void change(Object kind, Instant at, GpuTime amount, @Nullable String reason) {
        row(kind, at, at, null, null, null, null, null, amount, reason, null, null, null);
    }

    private void row(@Nullable Object... cells) {
        var row = new StringJoiner(",", "", "\r\n");
        row.add(cell(budget));
        for (Object cell : cells) {
            row.add(
                    switch (cell) {
                        case String text -> cell(text);
                        case GpuTime time -> time.minutes() + "," + time.microGpuSeconds();
                        case null -> "";
                        default -> cell.toString();
                    });
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
