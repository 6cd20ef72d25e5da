package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.budget.PayingBudget;
import io.gpusharing.cli.budget.Span;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import io.gpusharing.request.GpuShare;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
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

    /** As the ledger has those of one budget. */
    private static final Comparator<Line> MOST_IDLE_FIRST =
            Comparator.comparingLong(Line::idle).reversed();

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final BudgetOptions budget = new BudgetOptions();
    @Mixin private final SpanOptions span = new SpanOptions();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    @Option(
            names = "--by-owner",
            description = "All pods of a Job, Deployment or StatefulSet as one line.")
    private boolean byOwner;

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Of all budgets.")
    private boolean all;

    private final Console console;
    private final Clock clock;
    private final Pause pause;

    public WasteCommand(Console console, Clock clock, Pause pause) {
        this.console = console;
        this.clock = clock;
        this.pause = pause;
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
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        List<Line> lines;
        try (Cluster cluster = options.connect()) {
            List<String> budgets = all ? PayingBudget.names(cluster) : List.of(budget.in(cluster));
            lines =
                    budgets.stream()
                            .flatMap(name -> lines(cluster, name))
                            .sorted(MOST_IDLE_FIRST)
                            .toList();
        }
        output.print(
                console,
                new Table(HEADINGS, lines.stream().map(WasteCommand::row).toList(), Set.of()),
                lines);
        if (lines.isEmpty()) {
            console.note(
                    "No pod of %s held a GPU in that time"
                            .formatted(all ? "any budget" : "this budget"));
        }
    }

    private Stream<Line> lines(Cluster cluster, String name) {
        Map<String, String> query = span.query(cluster, name, clock.instant());
        query.put("by", byOwner ? "owner" : "pod");
        query.put("limit", "1000");
        return new Ledger(cluster)
                .pages(name, "waste", query, Line[].class).stream().flatMap(Arrays::stream);
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
