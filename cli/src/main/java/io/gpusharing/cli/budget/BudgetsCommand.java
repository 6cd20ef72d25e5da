package io.gpusharing.cli.budget;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.ApiTime;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import io.gpusharing.kubernetes.GpuBudget;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What budgets have left now, computed from what the timekeeper published last. */
@Command(
        name = "budgets",
        mixinStandardHelpOptions = true,
        description = {
            "What budgets have left now, in minutes of one whole GPU.",
            "Without names: the budget that pays for the namespace."
        })
public final class BudgetsCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of(
                    "NAME",
                    "GRANTED",
                    "USED",
                    "USED%",
                    "LEFT",
                    "RATE",
                    "STANDING",
                    "EXHAUSTED",
                    "RESETS");

    private static final List<String> MORE =
            List.of("LEFT-AT-RESET", "PERIOD", "CHARGED-BY", "ON-EXHAUSTED", "NAMESPACES", "AS-OF");

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "All budgets.")
    private boolean all;

    @Parameters(paramLabel = "NAME", description = "Budgets to show, by name.")
    private List<String> names = new ArrayList<>();

    private final Console console;
    private final Clock clock;
    private final Pause pause;

    public BudgetsCommand(Console console, Clock clock, Pause pause) {
        this.console = console;
        this.clock = clock;
        this.pause = pause;
    }

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        List<PublishedBudget> budgets;
        List<String> beside = List.of();
        Instant now;
        try (Cluster cluster = options.connect()) {
            budgets = names.isEmpty() ? budgets(cluster) : named(cluster);
            now = clock.instant();
            if (all && names.isEmpty()) {
                beside = new ClusterUse(cluster).besides(budgets, now);
            }
        }
        List<BudgetView> views = budgets.stream().map(it -> BudgetView.at(it, now)).toList();
        boolean wide = output.format() != Format.TABLE;
        boolean spans = output.format() != Format.CSV;
        output.print(console, table(views, wide, spans ? now : null), views);
        for (BudgetView view : views) {
            if (view.doubt() != null) {
                console.note("%s: %s".formatted(view.name(), view.doubt()));
            }
        }
        beside.forEach(console::note);
    }

    private List<PublishedBudget> named(Cluster cluster) {
        return names.stream().distinct().map(name -> named(cluster, name)).toList();
    }

    private static PublishedBudget named(Cluster cluster, String name) {
        GpuBudget budget =
                cluster.ask(
                        "get",
                        Kind.GPUBUDGETS,
                        client -> client.resources(GpuBudget.class).withName(name).get());
        if (budget == null) {
            throw new Failure(
                    "There is no budget %s; kubectl gpusharing budgets -A lists all"
                            .formatted(name));
        }
        return budget.published();
    }

    private List<PublishedBudget> budgets(Cluster cluster) {
        List<PublishedBudget> budgets = PayingBudget.all(cluster);
        if (all) {
            if (budgets.isEmpty()) {
                console.note("There are no budgets");
            }
            return budgets;
        }
        String user = namespace.in(cluster);
        List<PublishedBudget> paying = PayingBudget.of(budgets, user).stream().toList();
        if (paying.isEmpty()) {
            console.note("No budget names the namespace %s; -A shows all budgets".formatted(user));
        }
        return paying;
    }

    /**
     * @param now to say how far instants are; null if they stand alone
     */
    private static Table table(List<BudgetView> views, boolean wide, @Nullable Instant now) {
        var headings = new ArrayList<>(HEADINGS);
        if (wide) {
            headings.addAll(MORE);
        }
        return new Table(
                headings,
                views.stream().map(view -> row(view, wide, now)).toList(),
                Set.of("OverBudget", PublishedBudget.MISSPELLED, PublishedBudget.INACTIVE));
    }

    private static List<String> row(BudgetView view, boolean wide, @Nullable Instant now) {
        var row =
                new ArrayList<>(
                        List.of(
                                view.name(),
                                text(view.grantedMinutes()),
                                view.usedMinutes(),
                                view.usedPercent() == null ? "" : view.usedPercent() + "%",
                                text(view.leftMinutes()),
                                view.rateGpus(),
                                view.standing(),
                                exhausted(view, now),
                                seconds(view.resetsAt(), zone(view, now))));
        if (wide) {
            row.addAll(
                    List.of(
                            text(view.leftAtResetMinutes()),
                            view.period(),
                            view.chargeBy(),
                            view.onExhausted(),
                            String.join(",", view.namespaces()),
                            seconds(view.asOf(), zone(view, now))));
        }
        return row;
    }

    private static String exhausted(BudgetView view, @Nullable Instant now) {
        String at = view.exhaustedAt();
        String text = seconds(at, zone(view, now));
        return at == null || now == null
                ? text
                : "%s (%s)".formatted(text, Span.from(now, ApiTime.read(at)));
    }

    /** People read times as their budget counts days; programs, which get no spans, in UTC. */
    private static ZoneId zone(BudgetView view, @Nullable Instant now) {
        return now == null ? ZoneOffset.UTC : view.zone();
    }

    /** The status has microseconds, which nobody reads. */
    private static String seconds(@Nullable String instant, ZoneId zone) {
        return instant == null
                ? ""
                : DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(
                        ApiTime.read(instant).truncatedTo(ChronoUnit.SECONDS).atZone(zone));
    }

    private static String text(@Nullable String value) {
        return requireNonNullElse(value, "");
    }
}
