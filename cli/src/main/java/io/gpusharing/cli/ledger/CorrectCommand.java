package io.gpusharing.cli.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.NotAnswered;
import io.gpusharing.cli.cluster.UsageQuestion;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.When;
import io.gpusharing.request.GpuShare;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Corrects what a pod was charged. */
@Command(
        name = "correct",
        mixinStandardHelpOptions = true,
        description = {
            "Says what a span of a pod should have been charged; the difference becomes entries of the ledger, under your name.",
            "Nothing that was written is changed. statement -o json has the UIDs of pods."
        })
public final class CorrectCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("FROM", "TO", "NAMESPACE", "GPUS", "GPU-MINUTES");

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final OutputOptions output = new OutputOptions();

    @Parameters(
            index = "0",
            paramLabel = "BUDGET",
            description = "Whose account is corrected; what another budget paid for stays.")
    private String budget = "";

    @Parameters(index = "1", paramLabel = "UID", description = "The pod's UID.")
    private UUID pod = new UUID(0, 0);

    @Option(
            names = "--from",
            required = true,
            paramLabel = "WHEN",
            description = "2026-11-01 or 2026-11-01T12:00:00Z, in UTC; a whole second.")
    private String from = "";

    @Option(names = "--to", required = true, paramLabel = "WHEN", description = "The same.")
    private String to = "";

    @Option(
            names = "--gpus",
            required = true,
            paramLabel = "COUNT",
            description =
                    "How many GPUs should have been charged in that time; 0 gives all of it back.")
    private BigDecimal gpus = BigDecimal.ZERO;

    @Option(
            names = "--reason",
            required = true,
            paramLabel = "TEXT",
            description = "For whoever reads the ledger later.")
    private String reason = "";

    @Option(
            names = "--key",
            paramLabel = "TEXT",
            description =
                    "Names the correction: given again, it changes nothing and is answered the same.")
    private @Nullable String key;

    private final Console console;

    public CorrectCommand(Console console) {
        this.console = console;
    }

    @Override
    public void run() {
        Map<String, Object> spec = new HashMap<>();
        spec.put("budget", budget);
        spec.put("pod", pod.toString());
        spec.put("from", When.read("--from", from).toString());
        spec.put("to", When.read("--to", to).toString());
        spec.put("rate", rate());
        spec.put("reason", reason);
        // The client sends it again where an answer was lost; then it is the same correction.
        String named = key == null ? UUID.randomUUID().toString() : key;
        spec.put("idempotencyKey", named);
        JsonNode entries;
        try (Cluster cluster = options.connect()) {
            entries =
                    UsageQuestion.answer(
                                    cluster,
                                    "corrections",
                                    "Correction",
                                    spec,
                                    "ask an administrator for the cluster role gpusharing-budget-admin")
                            .path("entries");
        } catch (NotAnswered e) {
            throw new Failure(
                    "%s. If it is not clear whether it was corrected, the same command with --key %s says so, and corrects nothing twice"
                            .formatted(e.getMessage(), named));
        }
        output.print(console, table(entries), entries);
    }

    /** Micro-GPUs. */
    private long rate() {
        try {
            return gpus.movePointRight(6).longValueExact();
        } catch (ArithmeticException e) {
            throw new Failure(
                    "--gpus is %s; write whole GPUs with at most six decimals, for instance 0.5"
                            .formatted(gpus.toPlainString()));
        }
    }

    private static Table table(JsonNode entries) {
        var rows = new ArrayList<List<String>>();
        for (JsonNode entry : entries) {
            rows.add(
                    List.of(
                            entry.path("from").asString(""),
                            entry.path("to").asString(""),
                            entry.path("namespace").asString(""),
                            GpuShare.inGpus(entry.path("rate").asLong()),
                            new GpuTime(entry.path("amount").asLong()).minutes()));
        }
        return new Table(HEADINGS, rows, Set.of());
    }
}
