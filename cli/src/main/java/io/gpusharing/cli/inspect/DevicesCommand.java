package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.console.WatchOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What GPUs there are, in the table of metagpu's {@code mgctl get devices} (cmd/mgctl/get.go). */
@Command(
        name = "devices",
        mixinStandardHelpOptions = true,
        description = {
            "The GPUs that nodes share: the memory of each, and how many shares it has.",
            "A share is a hundredth of a GPU, and SHARE SIZE the memory that belongs to one; memory is in MiB. kubectl gpusharing inspect says who has which GPU."
        })
public final class DevicesCommand implements Runnable {

    private static final List<String> HEADINGS =
            List.of("IDX", "UUID", "MEMORY", "SHARES", "SHARE SIZE");

    private static final List<String> MORE = List.of("MODEL", "STATE", "TIER", "REASON");

    @Mixin private final InspectionOptions options = new InspectionOptions();
    @Mixin private final OutputOptions output = new OutputOptions();
    @Mixin private final WatchOption watch = new WatchOption();

    private final Console console;
    private final Pause pause;

    public DevicesCommand(Console console, Pause pause) {
        this.console = console;
        this.pause = pause;
    }

    /**
     * A GPU.
     *
     * @param memoryMiB null where nobody says
     * @param shares null where it is split or pods ask for memory alone
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Device(
            String node,
            int index,
            @Nullable String uuid,
            @Nullable Long memoryMiB,
            @Nullable Long shares,
            @Nullable Long shareSizeMiB,
            @Nullable String model,
            String state,
            @Nullable String tier,
            @Nullable String reason) {

        private static Device of(Host host, HostGpu gpu) {
            Long memory = gpu.memoryMiB() == 0 ? null : Long.valueOf(gpu.memoryMiB());
            Long shares = gpu.core();
            return new Device(
                    host.node(),
                    gpu.index(),
                    gpu.uuid(),
                    memory,
                    shares,
                    memory == null || shares == null ? null : Long.valueOf(memory / shares),
                    gpu.model(),
                    gpu.state(),
                    host.tier(),
                    gpu.reason());
        }
    }

    /**
     * All of them.
     *
     * @param notes what is not known of them, each a sentence
     */
    record Devices(List<Device> devices, List<String> notes) {}

    @Override
    public void run() {
        watch.show(console, output, pause, this::show);
    }

    private void show() {
        Inspection found = options.read();
        List<Device> devices =
                found.nodes().stream()
                        .flatMap(host -> host.gpus().stream().map(gpu -> Device.of(host, gpu)))
                        .toList();
        output.print(console, table(devices), new Devices(devices, found.notes()));
        if (output.format() != Format.JSON && output.format() != Format.YAML) {
            found.notes().forEach(console::note);
        }
    }

    private Table table(List<Device> devices) {
        boolean wide = output.format() != Format.TABLE;
        return new Table(
                line("NODE", HEADINGS, wide ? MORE : List.of()),
                devices.stream()
                        .map(it -> line(it.node(), row(it), wide ? more(it) : List.of()))
                        .toList(),
                Set.of(HostGpu.UNHEALTHY),
                line("", footer(devices), wide ? List.of("", "", "", "") : List.of()));
    }

    /** Of one node, as metagpu has it; of several with the node in front. */
    private List<String> line(String node, List<String> cells, List<String> more) {
        var line = new ArrayList<String>();
        if (!options.isOfOneNode()) {
            line.add(node);
        }
        line.addAll(cells);
        line.addAll(more);
        return line;
    }

    private static List<String> row(Device device) {
        return List.of(
                Integer.toString(device.index()),
                requireNonNullElse(device.uuid(), ""),
                number(device.memoryMiB()),
                number(device.shares()),
                number(device.shareSizeMiB()));
    }

    private static List<String> more(Device device) {
        return List.of(
                requireNonNullElse(device.model(), ""),
                device.state(),
                requireNonNullElse(device.tier(), ""),
                requireNonNullElse(device.reason(), ""));
    }

    private static List<String> footer(List<Device> devices) {
        return List.of(
                Integer.toString(devices.size()),
                "",
                sum(devices, Device::memoryMiB) + "MiB",
                Long.toString(sum(devices, Device::shares)),
                "");
    }

    private static long sum(List<Device> devices, Function<Device, @Nullable Long> amount) {
        return devices.stream()
                .map(amount)
                .filter(Objects::nonNull)
                .mapToLong(Long::longValue)
                .sum();
    }

    private static String number(@Nullable Long amount) {
        return amount == null ? "" : amount.toString();
    }
}
