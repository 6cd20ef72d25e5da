package io.gpusharing.cli.ledger;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.OwnName;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.When;
import io.gpusharing.kubernetes.GpuCorrection;
import io.gpusharing.request.GpuShare;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Corrects what a pod was charged: makes a {@code GpuCorrection}. */
@Command(
        name = "correct",
        mixinStandardHelpOptions = true,
        description = {
            "Says what a span of a pod should have been charged: makes a GpuCorrection, which cannot be changed.",
            "The difference becomes entries of the ledger, under your name. Nothing that was written is changed."
        })
public final class CorrectCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("FROM", "TO", "NAMESPACE", "GPUS", "GPU-MINUTES");

    private static final Duration POLL = Duration.ofMillis(250);

    /** A quarter of a minute: the timekeeper takes it within a second, a new leader later. */
    private static final int POLLS = 60;

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final OwnName name = new OwnName();

    @Parameters(
            index = "0",
            paramLabel = "BUDGET",
            description = "Whose account is corrected; what another budget paid for stays.")
    private String budget = "";

    @Parameters(
            index = "1",
            paramLabel = "POD",
            description = "NAMESPACE/NAME, or its UID, which statement -o json has.")
    private String pod = "";

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
            names = "--dry-run",
            description = "Makes nothing: shows what was charged, and what it would be.")
    private boolean dryRun;

    private final Console console;
    private final Clock clock;
    private final Pause pause;

    public CorrectCommand(Console console, Clock clock, Pause pause) {
        this.console = console;
        this.clock = clock;
        this.pause = pause;
    }

    @Override
    public void run() {
        var wanted = new GpuCorrection();
        wanted.setMetadata(name.metadata(budget));
        wanted.setSpec(
                new GpuCorrection.Spec(
                        budget,
                        pod(),
                        When.read("--from", from).toString(),
                        When.read("--to", to).toString(),
                        rate(),
                        reason));
        try (Cluster cluster = options.connect()) {
            if (dryRun) {
                cluster.ask(
                        "create",
                        Kind.GPUCORRECTIONS,
                        client -> client.resource(wanted).dryRun(true).create());
                console.out().println(preview(cluster, wanted.getSpec()));
            } else {
                GpuCorrection made = cluster.createOnce(Kind.GPUCORRECTIONS, wanted);
                if (!wanted.getSpec().equals(made.getSpec())) {
                    throw new Failure(
                            "There is another gpucorrection %s already, and it cannot be changed; give it another --name"
                                    .formatted(made.getMetadata().getName()));
                }
                show(done(cluster, made));
            }
        }
    }

    private GpuCorrection.Pod pod() {
        String[] parts = pod.split("/", -1);
        if (parts.length == 2 && !parts[0].isEmpty() && !parts[1].isEmpty()) {
            return new GpuCorrection.Pod(null, parts[0], parts[1]);
        }
        try {
            return new GpuCorrection.Pod(UUID.fromString(pod).toString(), null, null);
        } catch (IllegalArgumentException e) {
            throw new Failure(
                    "POD is %s; write NAMESPACE/NAME or a UID, which statement -o json has"
                            .formatted(pod));
        }
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

    /** Waits until it is written or refused. */
    private GpuCorrection.Status done(Cluster cluster, GpuCorrection made) {
        String called = made.getMetadata().getName();
        GpuCorrection present = made;
        for (int polls = 0; polls < POLLS; polls++) {
            if (present == null) {
                throw new Failure(
                        "gpucorrection/%s was deleted before it was written".formatted(called));
            }
            GpuCorrection.Status status = present.getStatus();
            if (status != null && status.isDone()) {
                return status;
            }
            if (polls > 0 && !pause.isOver(POLL)) {
                break;
            }
            present =
                    cluster.ask(
                            "get",
                            Kind.GPUCORRECTIONS,
                            client -> client.resources(GpuCorrection.class).withName(called).get());
        }
        throw new Failure(
                "The timekeeper has not written it yet, and will when it is there: kubectl get gpucorrection %1$s shows it, kubectl delete gpucorrection %1$s withdraws it"
                        .formatted(called));
    }

    private void show(GpuCorrection.Status status) {
        if (status.refused() != null) {
            throw new Failure(
                    "%s (%s)".formatted(status.refused().message(), status.refused().rule()));
        }
        List<GpuCorrection.Entry> entries = Objects.requireNonNullElse(status.entries(), List.of());
        output.print(
                console,
                new Table(
                        HEADINGS,
                        entries.stream()
                                .map(it ->
                                        List.of(
                                                it.from(),
                                                it.to(),
                                                it.namespace(),
                                                GpuShare.inGpus(it.rate()),
                                                new GpuTime(it.amount()).minutes()))
                                .toList(),
                        Set.of()),
                status);
        int more = Objects.requireNonNullElse(status.entryCount(), 0) - entries.size();
        if (more > 0) {
            console.note(
                    "%d more entries; %s GPU-minutes in all".formatted(more, status.gpuMinutes()));
        }
    }

    /** From the statement, as it is now: the ledger decides when it is written. */
    private String preview(Cluster cluster, GpuCorrection.Spec spec) {
        Statement statement =
                Statement.of(
                        new Ledger(cluster)
                                .pages(
                                        budget,
                                        "statement",
                                        new TreeMap<>(Map.of("from", spec.from(), "to", spec.to())),
                                        Statement.class));
        List<Statement.Line> lines =
                statement.lines().stream().filter(it -> isMeant(spec.pod(), it)).toList();
        Set<String> uids =
                lines.stream()
                        .map(it -> Objects.requireNonNullElse(it.pod(), ""))
                        .collect(Collectors.toCollection(TreeSet::new));
        if (uids.size() > 1) {
            throw new Failure(
                    "%d pods called %s held GPUs in that time: name one by its uid, %s"
                            .formatted(uids.size(), pod, uids));
        }
        boolean posted = lines.stream().noneMatch(Statement.Line::isRunning);
        if (!posted || statement.to().isBefore(Instant.parse(spec.to()))) {
            throw new Failure(
                    "Not all of that time is posted: of a pod that runs on it is done by the hour");
        }
        long seconds =
                lines.stream()
                        .filter(Statement.Line::isCharge)
                        .mapToLong(it -> Duration.between(it.from(), it.to()).toSeconds())
                        .sum();
        if (seconds == 0) {
            throw new Failure(
                    "The statement of budget %s has no posted charge of pod %s in that time that you may see"
                            .formatted(budget, pod));
        }
        var charged = new GpuTime(lines.stream().mapToLong(Statement.Line::used).sum());
        var then = new GpuTime(seconds * spec.rate());
        return "As of %s budget %s was charged %s GPU-minutes for pod %s in that time; it would be %s, a difference of %s. Nothing was made, and the ledger has not judged it."
                .formatted(
                        clock.instant().truncatedTo(ChronoUnit.SECONDS),
                        budget,
                        charged.minutes(),
                        pod,
                        then.minutes(),
                        new GpuTime(then.microGpuSeconds() - charged.microGpuSeconds()).minutes());
    }

    private static boolean isMeant(GpuCorrection.Pod pod, Statement.Line line) {
        return pod.uid() != null
                ? pod.uid().equals(line.pod())
                : line.namespace().equals(pod.namespace())
                        && Objects.equals(line.podName(), pod.name());
    }
}
