package io.gpusharing.cli.ledger;

import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.WatchOption;
import io.gpusharing.cli.ledger.PodProcesses.Device;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What runs on the GPUs. */
@Command(
        name = "processes",
        mixinStandardHelpOptions = true,
        description = {
            "What pods run on the GPUs that they hold: each process, how busy it keeps its pod's share, and its memory.",
            "GPU is in percent of what the pod holds, MEMORY in MiB, of what it may have; PID is the node's number of the process, REQ is in hundredths of a GPU. All of it may be a minute old, and some minutes where the node's agent is silent."
        })
public final class ProcessesCommand implements Runnable {

    /** Pods that a note names. */
    private static final int NAMED = 3;

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final NamespaceOption namespace = new NamespaceOption();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "Of all namespaces.")
    private boolean all;

    @Parameters(arity = "0..1", paramLabel = "POD", description = "One pod instead of all.")
    private @Nullable String pod;

    private final Console console;
    private final Pause pause;

    public ProcessesCommand(Console console, Pause pause) {
        this.console = console;
        this.pause = pause;
    }

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        List<PodProcesses> pods;
        try (Cluster cluster = options.connect()) {
            pods =
                    new Ledger(cluster)
                            .podProcesses(all ? null : namespace.in(cluster)).stream()
                                    .filter(it -> pod == null || pod.equals(it.metadata().name()))
                                    .sorted(PodProcesses.BY_NAME)
                                    .toList();
        }
        if (pod != null && pods.isEmpty()) {
            throw new Failure(
                    "No pod %s holds a GPU %s now; kubectl gpusharing processes%s shows all that do"
                            .formatted(pod, all ? "in the cluster" : "there", all ? " -A" : ""));
        }
        output.print(console, ProcessTable.of(pods, output.format()), pods);
        if (pods.isEmpty()) {
            console.note("No pod %s holds a GPU now".formatted(all ? "of the cluster" : "there"));
        }
        note(
                "It is not known now what runs in",
                pods.stream()
                        .filter(it -> it.status().asOf() == null)
                        .map(ProcessesCommand::name)
                        .toList());
        note(
                "More processes run than are shown, which are those with most memory:",
                pods.stream().flatMap(ProcessesCommand::cut).toList());
    }

    /** GPUs on which a pod has more processes than are shown. */
    private static Stream<String> cut(PodProcesses pod) {
        return pod.status().devices().stream()
                .filter(it -> it.processCount() > it.processes().size())
                .map(it ->
                        "%s (%d of %d on %s)"
                                .formatted(
                                        name(pod),
                                        it.processes().size(),
                                        it.processCount(),
                                        name(it)));
    }

    private static String name(PodProcesses pod) {
        return pod.metadata().namespace() + "/" + pod.metadata().name();
    }

    private static String name(Device device) {
        return device.index() == null ? device.uuid() : "GPU " + device.index();
    }

    private void note(String what, List<String> pods) {
        if (!pods.isEmpty()) {
            int more = pods.size() - NAMED;
            console.note(
                    "%s %s%s"
                            .formatted(
                                    what,
                                    String.join(", ", pods.stream().limit(NAMED).toList()),
                                    more > 0 ? " and " + more + " more" : ""));
        }
    }
}
