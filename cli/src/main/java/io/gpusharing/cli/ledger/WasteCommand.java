package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.budget.Span;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import io.gpusharing.request.GpuShare;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who held GPUs and did not use them. */
@Command(
        name = "waste",
        mixinStandardHelpOptions = true,
        description = {
            "Pods of a budget that held GPUs and did not use them, most idle first.",
            "Of those that were there in the last week, without --from. UNWATCHED is what nobody measured, and is not called idle.",
            "BUSY <= says how busy it was at most, beside others who computed on the same GPU; IDLE is what is certain."
        })
public final class WasteCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of(
                    "NAMESPACE",
                    "NAME",
                    "PODS",
                    "GPUS",
                    "HELD",
                    "CHARGED",
                    "IDLE",
                    "BUSY",
                    "UNWATCHED");

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final BudgetOptions budget = new BudgetOptions();
    @Mixin private final SpanOptions span = new SpanOptions();
    @Mixin private final OutputOptions output = new OutputOptions();

    @Option(
            names = "--by-owner",
            description = "All pods of a Job, Deployment or StatefulSet as one line.")
    private boolean byOwner;

    private final Console console;

    public WasteCommand(Console console) {
        this.console = console;
    }

    /** As the ledger gives it; amounts are micro-GPU-seconds, the rate is micro-GPUs. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Line(
            @Nullable String pod,
            String namespace,
            @Nullable String name,
            @Nullable String ownerKind,
            @Nullable String ownerName,
            String budget,
            String summary,
            long pods,
            long rate,
            long heldSeconds,
            long charged,
            long measured,
            long idle,
            long unwatched,
            @Nullable String busyPercent,
            @Nullable String busyAtMostPercent) {

        private String title() {
            return pod == null && ownerName != null
                    ? ownerKind + "/" + ownerName
                    : requireNonNullElse(name, "");
        }
    }

    @Override
    public void run() {
        Map<String, String> query = span.query();
        query.put("by", byOwner ? "owner" : "pod");
        query.put("limit", "1000");
        List<Line> lines;
        try (Cluster cluster = options.connect()) {
            lines =
                    new Ledger(cluster)
                            .pages(budget.in(cluster), "waste", query, Line[].class).stream()
                                    .flatMap(Arrays::stream)
                                    .toList();
        }
        output.print(
                console,
                new Table(HEADINGS, lines.stream().map(WasteCommand::row).toList(), Set.of()),
                lines);
        if (lines.isEmpty()) {
            console.note("No pod of this budget held a GPU in that time");
        }
    }

    private static List<String> row(Line line) {
        String busy = PodUsage.busy(line.busyPercent(), line.busyAtMostPercent());
        return List.of(
                line.namespace(),
                line.title(),
                Long.toString(line.pods()),
                GpuShare.inGpus(line.rate()),
                Span.text(Duration.ofSeconds(line.heldSeconds())),
                new GpuTime(line.charged()).minutes(),
                busy.isEmpty() ? "" : new GpuTime(line.idle()).minutes(),
                busy,
                new GpuTime(line.unwatched()).minutes());
    }
}
