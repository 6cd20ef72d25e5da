package io.gpusharing.cli.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.ledger.Statement.Line;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Where the time of a budget went. */
@Command(
        name = "statement",
        mixinStandardHelpOptions = true,
        description = {
            "Where the time of a budget went: what was left, what was added, what pods used.",
            "GPU-MINUTES of all lines but the last add up to the last. Of the present period without"
                    + " --from; by pod, and with -o wide and csv also by hour.",
            "-o csv is the ledger's own file, with owners, GPU models and exact amounts."
        })
public final class StatementCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("WHAT", "FROM", "TO", "NAMESPACE", "POD", "GPU-MINUTES", "REASON");

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final BudgetOptions budget = new BudgetOptions();
    @Mixin private final SpanOptions span = new SpanOptions();
    @Mixin private final OutputOptions output = new OutputOptions();

    private final Console console;
    private final Clock clock;

    public StatementCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    @Override
    public void run() {
        Statement statement;
        try (Cluster cluster = options.connect()) {
            String name = budget.in(cluster);
            var ledger = new Ledger(cluster);
            Map<String, String> query = span.query(cluster, name, clock.instant());
            if (output.format() == Format.CSV) {
                output.printCsv(console, ledger.csv(name, "statement", query));
                return;
            }
            statement = Statement.of(ledger.pages(name, "statement", query, Statement.class));
        }
        output.print(console, table(statement), statement);
        if (!statement.unwatched().isEmpty()) {
            int others = statement.unwatched().size() - 1;
            console.note(
                    statement.unwatched().getFirst().note()
                            + (others == 0 ? "" : " (and %d more in -o json)".formatted(others)));
        }
    }

    private Table table(Statement statement) {
        var rows = new ArrayList<List<String>>();
        if (statement.opening() != null) {
            rows.add(change("Opening", statement.from(), "", statement.opening()));
        }
        for (Statement.Change change : statement.changes()) {
            rows.add(change(change.kind(), change.at(), change.source(), change.amount()));
        }
        boolean byPod = output.format() == Format.TABLE;
        for (Line line : byPod ? statement.byPod() : statement.lines()) {
            rows.add(
                    List.of(
                            line.kind(),
                            line.from().toString(),
                            line.to().toString(),
                            line.namespace(),
                            line.podText(),
                            minutes(-line.used()),
                            text(line.reason())));
        }
        if (statement.closing() != null) {
            rows.add(change("Closing", statement.to(), "", statement.closing()));
        }
        return new Table(HEADINGS, rows, Set.of());
    }

    private static List<String> change(String kind, Instant at, String source, long amount) {
        return List.of(kind, at.toString(), "", "", "", minutes(amount), source);
    }

    private static String minutes(long microGpuSeconds) {
        return new GpuTime(microGpuSeconds).minutes();
    }

    private static String text(@Nullable String value) {
        return Objects.requireNonNullElse(value, "");
    }
}
