package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.budget.account.AccountStatement;
import java.io.PrintWriter;
import java.time.Instant;
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
            balance("Opening", span.from(), statement.opening().microGpuSeconds());
            for (AccountStatement.BalanceChange credit : statement.changes()) {
                row(
                        credit.kind().name(),
                        credit.at(),
                        credit.at(),
                        "",
                        "",
                        "",
                        credit.amount(),
                        credit.source(),
                        "",
                        "");
            }
        }
    }

    void line(StatementLine line) {
        row(
                line.kind().name(),
                line.from(),
                line.to(),
                line.namespace(),
                line.pod() == null ? "" : line.pod().toString(),
                text(line.podName()),
                -line.used(),
                text(line.reason()),
                text(line.author()),
                line.correction() == null ? "" : line.correction().toString());
    }

    void end(Span span, @Nullable AccountStatement statement) {
        if (statement != null) {
            balance("Closing", span.to(), statement.closing().microGpuSeconds());
        }
    }

    private void balance(String kind, Instant at, long amount) {
        row(kind, at, at, "", "", "", amount, "", "", "");
    }

    private void row(
            String kind,
            Instant from,
            Instant to,
            String namespace,
            String pod,
            String podName,
            long amount,
            String source,
            String author,
            String correction) {
        out.print(
                String.join(
                                ",",
                                kind,
                                from.toString(),
                                to.toString(),
                                cell(namespace),
                                pod,
                                cell(podName),
                                Long.toString(amount),
                                cell(source),
                                cell(author),
                                correction)
                        + "\r\n");
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    /** Quoted where needed; a spreadsheet must not take somebody's reason for a formula. */
    static String cell(String text) {
        String safe =
                !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        boolean plain = safe.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? safe : '"' + safe.replace("\"", "\"\"") + '"';
    }
}
