package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static java.util.Objects.requireNonNullElseGet;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.gpusharing.Names;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.cluster.NotAnswered;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.cli.cluster.UsageQuestion;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.explain.Placement.Gpu;
import io.gpusharing.cli.explain.Placement.Node;
import io.gpusharing.cli.explain.Workload.Named;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.request.PodRequest;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Where a pod is, or why it waits; whether those of a manifest would fit. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = {
            "Where a pod is, or why it waits, was lowered, refused or evicted, and what would fit instead; -o wide says it of every GPU.",
            "With -f, whether the pods of a manifest would be admitted and fit, without creating them."
        })
public final class ExplainCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("NODE", "GPU", "CORE", "MEMORY(MiB)", "REASON");

    private static final JsonMapper JSON = new JsonMapper();

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOptions output = new OutputOptions();

    @ArgGroup(multiplicity = "1")
    private final Asked asked = new Asked();

    @Option(
            names = "--nodes",
            paramLabel = "COUNT",
            defaultValue = "5",
            description = "How many nodes are shown, 0 to 50 (${DEFAULT-VALUE}).")
    private int nodes;

    private final Console console;
    private final Clock clock;

    public ExplainCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    /** One of the two. */
    private static final class Asked {

        @Parameters(
                arity = "1..2",
                paramLabel = "NAME",
                description =
                        "A pod of the namespace, or TYPE/NAME or TYPE NAME of what makes pods, of any kind that the API server knows: deployment/serve, pytorchjob train.")
        private @Nullable List<String> named;

        @Option(
                names = {"-f", "--filename"},
                paramLabel = "FILE",
                description =
                        "Manifests of pods, or of workloads with a pod template; - is standard input.")
        private @Nullable Path manifest;
    }

    @Override
    public void run() {
        try (Cluster cluster = options.connect()) {
            if (asked.named == null) {
                explain(cluster, requireNonNull(asked.manifest));
                return;
            }
            var named = Named.of(asked.named);
            String in = namespace.in(cluster);
            if (named.isPod()) {
                explain(cluster, in, named.name());
            } else {
                explain(cluster, in, Workload.find(cluster, in, named));
            }
        }
    }

    private void explain(Cluster cluster, String namespace, String name) {
        Workload.pod(cluster, namespace, name)
                .ifPresentOrElse(
                        pod -> explain(cluster, namespace, pod, answer -> show(List.of(answer))),
                        () -> tellWhatBecameOf(cluster, namespace, name));
    }

    private void explain(Cluster cluster, String namespace, Pod pod, Consumer<JsonNode> show) {
        PodNotes.of(cluster, namespace, pod, clock.instant()).forEach(console::note);
        answer(
                cluster,
                namespace,
                Map.of("pod", pod.getMetadata().getName(), "nodes", nodes),
                () -> saysItself(pod),
                show);
    }

    /** Its pods one by one, and why the API server took the last one not. */
    private void explain(Cluster cluster, String namespace, Workload workload) {
        Optional<String> refusal = PodEvents.lastRefusal(cluster, namespace, workload.owners());
        workload.owners().gap().ifPresent(console::note);
        if (workload.pods().isEmpty()) {
            throw new Failure(
                    refusal.orElse("It has no pods, and no Event says that one was refused"));
        }
        refusal.ifPresent(console::note);
        boolean isForPeople = output.format().isForPeople();
        var answers = new ArrayList<JsonNode>();
        for (Pod pod : workload.pods()) {
            if (isForPeople) {
                console.say("Pod " + pod.getMetadata().getName());
            }
            explain(
                    cluster,
                    namespace,
                    pod,
                    isForPeople ? answer -> show(List.of(answer)) : answers::add);
        }
        if (!answers.isEmpty()) {
            show(answers);
        }
        if (workload.more() > 0) {
            console.note("It has %d more pods".formatted(workload.more()));
        }
    }

    private void explain(Cluster cluster, Path path) {
        ManifestPods pods = ManifestPods.read(path, console);
        var answers = new ArrayList<JsonNode>();
        try {
            pods.judge(
                    cluster,
                    namespace,
                    console,
                    pod -> {
                        boolean isForPeople = output.format().isForPeople();
                        if (isForPeople && pods.areSeveral()) {
                            console.say(pod.template().title());
                        }
                        PodNotes.offered(cluster, pod.request(PodNotes.WHOLE_GPUS))
                                .ifPresent(console::note);
                        answer(
                                cluster,
                                pod.namespace(),
                                Map.of("newPod", pod.asked(), "nodes", nodes),
                                () -> asksFor(pod),
                                isForPeople ? answer -> show(List.of(answer)) : answers::add);
                    });
        } finally {
            // Of several in one document.
            if (!answers.isEmpty()) {
                show(answers);
            }
        }
    }

    private static String asksFor(NewPod pod) {
        PodRequest request = pod.request();
        return request.asksFor(NewPod.GRAMMARS::reads)
                ? "It is legal, and asks for " + request.stamp(NewPod.GRAMMARS::reads)
                : "It asks for no GPU";
    }

    /** What its phase says, or what the cluster's scheduler, or ours, has written on it. */
    private static String saysItself(Pod pod) {
        PodStatus status = requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        if (PodPhase.hasEnded(pod)) {
            return "It has ended, and holds nothing";
        }
        return requireNonNullElse(status.getConditions(), List.<PodCondition>of()).stream()
                .filter(it ->
                        it.getType().equals(Names.PLACEMENT_CONDITION)
                                || it.getType().equals("PodScheduled"))
                .filter(it -> !requireNonNullElse(it.getMessage(), "").isEmpty())
                // Ours says more.
                .min(Comparator.comparing(it -> it.getType().equals("PodScheduled")))
                .map(PodCondition::getMessage)
                .orElseGet(() ->
                        pod.getSpec().getNodeName() == null
                                ? "It waits, and nobody has written on it why"
                                : "It is bound to " + pod.getSpec().getNodeName());
    }

    /**
     * Shows what the timekeeper says, or what is known without it.
     *
     * @param without what is known without it
     * @param show what it says
     */
    private void answer(
            Cluster cluster,
            String namespace,
            Map<String, Object> spec,
            Supplier<String> without,
            Consumer<JsonNode> show) {
        try {
            show.accept(
                    UsageQuestion.answer(cluster, namespace, "explanations", "Explanation", spec));
        } catch (NotAnswered | NotInstalled | NotAllowed e) {
            if (!output.format().isForPeople()) {
                throw e;
            }
            console.say(without.get());
            console.note("Where it would fit only the timekeeper knows. " + e.getMessage());
        }
    }

    private void show(List<JsonNode> answers) {
        List<Placement> placements =
                answers.stream().map(it -> JSON.treeToValue(it, Placement.class)).toList();
        if (output.format().isForPeople()) {
            placements.forEach(it -> console.say(it.summary()));
        }
        if (output.format() != Format.TABLE) {
            output.print(
                    console, table(placements), answers.size() == 1 ? answers.getFirst() : answers);
        }
    }

    private static Table table(List<Placement> placements) {
        var rows = new ArrayList<List<String>>();
        for (Node node : placements.stream().flatMap(it -> it.nodes().stream()).toList()) {
            for (Gpu gpu : requireNonNullElse(node.gpus(), List.<Gpu>of())) {
                rows.add(
                        List.of(
                                node.name(),
                                gpu.index() == null ? gpu.uuid() : gpu.index().toString(),
                                gpu.free().core() + "/" + gpu.total().core(),
                                gpu.free().memoryMiB() + "/" + gpu.total().memoryMiB(),
                                requireNonNullElse(gpu.reason(), "")));
            }
        }
        return new Table(HEADINGS, rows, Set.of());
    }

    /** A pod that is gone has left its Events behind, for an hour as clusters come. */
    private void tellWhatBecameOf(Cluster cluster, String namespace, String pod) {
        List<String> told = PodEvents.ofTheEnd(cluster, namespace, pod);
        String gone = "There is no pod %s in %s".formatted(pod, namespace);
        if (told.isEmpty()) {
            throw new Failure(gone + ", and no Event tells of one that was evicted");
        }
        if (!output.format().isForPeople()) {
            throw new Failure(gone + " any more; its Events say: " + String.join("; ", told));
        }
        console.note(gone + " any more");
        told.forEach(console::say);
    }
}
