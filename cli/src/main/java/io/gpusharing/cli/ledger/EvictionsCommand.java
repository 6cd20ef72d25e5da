package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** Which pods were evicted, for whom and why. */
@Command(
        name = "evictions",
        mixinStandardHelpOptions = true,
        description = {
            "Which pods of a budget's namespaces were evicted and for whom, latest first; -o wide says why.",
            "Of namespaces where you may get pods; a receipt names both pods, as the Events on them do."
        })
public final class EvictionsCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("AT", "CAUSE", "POD", "BUDGET", "NODE", "FOR", "RESULT");

    private static final List<String> MORE = List.of("HELPED", "BECAUSE");

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final BudgetOptions budget = new BudgetOptions();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    private final Console console;
    private final Pause pause;

    public EvictionsCommand(Console console, Pause pause) {
        this.console = console;
        this.pause = pause;
    }

    /** A pod of an eviction. */
    record Pod(String uid, String namespace, String name, String budget) {

        private String text() {
            return namespace + "/" + name;
        }
    }

    /**
     * As the ledger gives it.
     *
     * @param considered how many other pods were spared, by why, and the nearest of them
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Receipt(
            Instant at,
            String cause,
            Pod victim,
            @Nullable Pod waiter,
            @Nullable Instant waiterSince,
            String node,
            String because,
            String reason,
            @Nullable Long cost,
            @Nullable String costMinutes,
            @Nullable JsonNode considered,
            String result,
            @Nullable String resultDetail,
            @Nullable Boolean helped,
            @Nullable String outcome) {}

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        List<Receipt> receipts;
        try (Cluster cluster = options.connect()) {
            receipts =
                    new Ledger(cluster)
                                    .pages(
                                            budget.in(cluster),
                                            "evictions",
                                            Map.of("limit", "1000"),
                                            Receipt[].class)
                                    .stream()
                                    .flatMap(Arrays::stream)
                                    .toList();
        }
        output.print(console, table(receipts), receipts);
        if (receipts.isEmpty()) {
            console.note("No pod of this budget's namespaces was evicted");
        }
    }

    private Table table(List<Receipt> receipts) {
        boolean wide = output.format() != Format.TABLE;
        var headings = new ArrayList<>(HEADINGS);
        if (wide) {
            headings.addAll(MORE);
        }
        return new Table(
                headings, receipts.stream().map(it -> row(it, wide)).toList(), Set.of("Refused"));
    }

    private static List<String> row(Receipt receipt, boolean wide) {
        var row =
                new ArrayList<>(
                        List.of(
                                receipt.at().toString(),
                                receipt.cause(),
                                receipt.victim().text(),
                                receipt.victim().budget(),
                                receipt.node(),
                                receipt.waiter() == null ? "" : receipt.waiter().text(),
                                receipt.result()));
        if (wide) {
            row.add(requireNonNullElse(receipt.outcome(), ""));
            row.add(receipt.because());
        }
        return row;
    }
}
