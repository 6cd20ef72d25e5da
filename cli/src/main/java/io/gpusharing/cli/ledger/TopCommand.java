package io.gpusharing.cli.ledger;

import static java.util.Comparator.comparing;
import static java.util.Comparator.nullsLast;
import static java.util.Comparator.reverseOrder;

import io.gpusharing.cli.budget.Span;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import io.gpusharing.cli.ledger.PodUsage.Status;
import io.gpusharing.cli.ledger.PodUsage.Use;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who holds GPUs now, and what they do with them. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        description = {
            "Who holds GPUs now, and how much of that was idle while it was watched, most idle first.",
            "Of the namespace's pods. Those that nobody has measured come last, and are not called idle."
        })
public final class TopCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("NAMESPACE", "NAME", "GPUS", "IDLE", "BUSY", "HELD", "CHARGED", "BUDGET");

    private static final List<String> MORE = List.of("NODE", "MEASURED", "BASIS");

    private static final Comparator<PodUsage> MOST_IDLE_FIRST =
            comparing((PodUsage it) -> it.idle().orElse(null), nullsLast(reverseOrder()))
                    .thenComparing(it -> new BigDecimal(it.status().gpus()), reverseOrder())
                    .thenComparing(it -> it.metadata().namespace())
                    .thenComparing(it -> it.metadata().name());

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Of all namespaces.")
    private boolean all;

    private final Console console;
    private final Clock clock;
    private final Pause pause;

    public TopCommand(Console console, Clock clock, Pause pause) {
        this.console = console;
        this.clock = clock;
        this.pause = pause;
    }

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        List<PodUsage> pods;
        try (Cluster cluster = options.connect()) {
            pods =
                    new Ledger(cluster)
                            .podUsages(all ? null : namespace.in(cluster)).stream()
                                    .sorted(MOST_IDLE_FIRST)
                                    .toList();
        }
        output.print(console, table(pods), pods);
        if (pods.isEmpty()) {
            console.note("No pod %s holds a GPU now".formatted(all ? "of the cluster" : "there"));
        }
    }

    private Table table(List<PodUsage> pods) {
        boolean wide = output.format() != Format.TABLE;
        var headings = new ArrayList<>(HEADINGS);
        if (wide) {
            headings.addAll(MORE);
        }
        return new Table(headings, pods.stream().map(it -> row(it, wide)).toList(), Set.of());
    }

    private List<String> row(PodUsage pod, boolean wide) {
        Status status = pod.status();
        Optional<Use> use = Optional.ofNullable(status.measured());
        var row =
                new ArrayList<>(
                        List.of(
                                pod.metadata().namespace(),
                                pod.metadata().name(),
                                status.gpus(),
                                pod.idle().map(BigDecimal::toPlainString).orElse(""),
                                use.map(it ->
                                                PodUsage.busy(
                                                        it.busyPercent(), it.busyAtMostPercent()))
                                        .orElse(""),
                                Span.text(Duration.between(status.since(), clock.instant())),
                                status.chargedMinutes(),
                                status.budget()));
        if (wide) {
            row.addAll(
                    List.of(
                            status.node(),
                            use.map(Use::minutes).orElse(""),
                            use.map(Use::basis).orElse("")));
        }
        return row;
    }
}
