package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which GPUs nodes share, how much of each is given away, and to whom. */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        description = {
            "The GPUs that nodes share: how much of each is allocated, of how much, and to whom.",
            "CORE is in hundredths of a GPU."
        })
public final class InspectCommand implements Runnable {

    private static final String UNKNOWN_GPU = "?";

    private static final List<String> GPU =
            List.of("NODE", "GPU", "MODEL", "STATE", "CORE", "MEMORY(MiB)", "PODS");

    private static final List<String> POD =
            List.of("NODE", "GPU", "STATE", "NAMESPACE", "POD", "CORE", "MEMORY(MiB)");

    private static final List<String> MORE = List.of("ADDRESS", "TIER", "SOURCE", "UUID", "REASON");

    @Mixin private final InspectionOptions options = new InspectionOptions();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    @Option(
            names = {"-d", "--details"},
            description = "A line for each pod.")
    private boolean details;

    private final Console console;
    private final Pause pause;

    public InspectCommand(Console console, Pause pause) {
        this.console = console;
        this.pause = pause;
    }

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        Inspection shown = options.read();
        output.print(console, table(shown), shown);
        if (output.format() != Format.JSON && output.format() != Format.YAML) {
            shown.notes().forEach(console::note);
        }
    }

    private Table table(Inspection inspection) {
        boolean wide = output.format() != Format.TABLE;
        var headings = new ArrayList<>(details ? POD : GPU);
        if (wide) {
            headings.addAll(MORE);
        }
        var rows = new ArrayList<List<String>>();
        for (Host host : inspection.nodes()) {
            for (HostGpu gpu : host.gpus()) {
                for (List<String> row : details ? pods(host, gpu) : List.of(gpu(host, gpu))) {
                    rows.add(wide ? with(row, more(host, gpu)) : row);
                }
            }
            for (PodPart pod : host.unplaced()) {
                List<String> row =
                        details
                                ? pod(host, UNKNOWN_GPU, "", pod)
                                : List.of(
                                        host.node(),
                                        UNKNOWN_GPU,
                                        "",
                                        "",
                                        number(pod.core()),
                                        Long.toString(pod.memoryMiB()),
                                        name(pod));
                rows.add(wide ? with(row, more(host, null)) : row);
            }
        }
        return new Table(headings, rows, Set.of(HostGpu.UNHEALTHY));
    }

    private static List<String> gpu(Host host, HostGpu gpu) {
        return List.of(
                host.node(),
                Integer.toString(gpu.index()),
                requireNonNullElse(gpu.model(), ""),
                gpu.state(),
                gpu.core() == null ? "" : gpu.allocatedCore() + "/" + gpu.core(),
                gpu.isSplit() ? "" : gpu.allocatedMemoryMiB() + "/" + gpu.memoryMiB(),
                String.join(",", gpu.pods().stream().map(InspectCommand::name).toList()));
    }

    private static List<List<String>> pods(Host host, HostGpu gpu) {
        String index = Integer.toString(gpu.index());
        return gpu.pods().isEmpty()
                ? List.of(List.of(host.node(), index, gpu.state(), "", "", "", ""))
                : gpu.pods().stream().map(pod -> pod(host, index, gpu.state(), pod)).toList();
    }

    private static List<String> pod(Host host, String index, String state, PodPart pod) {
        return List.of(
                host.node(),
                index,
                state,
                pod.namespace(),
                pod.pod(),
                number(pod.core()),
                Long.toString(pod.memoryMiB()));
    }

    private static List<String> more(Host host, @Nullable HostGpu gpu) {
        return List.of(
                requireNonNullElse(host.address(), ""),
                requireNonNullElse(host.tier(), ""),
                host.source().name(),
                gpu == null || gpu.uuid() == null ? "" : gpu.uuid(),
                gpu == null || gpu.reason() == null ? "" : gpu.reason());
    }

    private static List<String> with(List<String> row, List<String> more) {
        var longer = new ArrayList<>(row);
        longer.addAll(more);
        return longer;
    }

    private static String name(PodPart pod) {
        return pod.namespace() + "/" + pod.pod();
    }

    private static String number(@Nullable Long value) {
        return value == null ? "" : value.toString();
    }
}
