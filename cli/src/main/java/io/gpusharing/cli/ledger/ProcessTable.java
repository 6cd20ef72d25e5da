package io.gpusharing.cli.ledger;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.Table;
import io.gpusharing.cli.ledger.PodProcesses.Device;
import io.gpusharing.cli.ledger.PodProcesses.Total;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The table of metagpu's {@code mgctl get processes} (cmd/mgctl/get.go), with pods where that has
 * containers.
 */
final class ProcessTable {

    private static final List<String> HEADINGS =
            List.of("POD", "NS", "DEVICE", "NODE", "GPU", "MEMORY", "PID", "CMD", "REQ");

    private static final List<String> MORE = List.of("UUID", "AS-OF");

    private static final int SHARES = 100;

    private final Format format;
    private final List<List<String>> rows = new ArrayList<>();
    private final Set<String> alarming = new HashSet<>();
    private final Set<String> devices = new HashSet<>();
    private @Nullable Long used;
    private BigDecimal requested = BigDecimal.ZERO;

    private ProcessTable(Format format) {
        this.format = format;
    }

    static Table of(List<PodProcesses> pods, Format format) {
        var table = new ProcessTable(format);
        pods.forEach(table::add);
        var headings = new ArrayList<>(HEADINGS);
        var footer =
                new ArrayList<>(
                        List.of(
                                Integer.toString(pods.size()),
                                "",
                                "",
                                "",
                                "",
                                table.used == null ? "-" : table.used + "MiB",
                                "",
                                "",
                                table.devices.size() * SHARES + "/" + plain(table.requested)));
        if (format != Format.TABLE) {
            headings.addAll(MORE);
            footer.addAll(List.of("", ""));
        }
        return new Table(headings, table.rows, table.alarming, footer);
    }

    private void add(PodProcesses pod) {
        List<Device> all = pod.status().devices();
        requested = requested.add(shares(pod));
        all.forEach(it -> devices.add(it.uuid()));
        List<Total> processes = pod.processes();
        for (Total process : processes) {
            addRow(
                    pod,
                    process.devices(),
                    busy(process, pod),
                    process.memoryMiB(),
                    Integer.toString(process.pid()),
                    shown(process.command()));
        }
        if (processes.isEmpty()) {
            boolean none =
                    pod.status().asOf() != null
                            && all.stream().allMatch(it -> it.processCount() == 0);
            addRow(pod, all, "", none ? Long.valueOf(0) : null, "", "");
        }
    }

    private void addRow(
            PodProcesses pod,
            List<Device> on,
            String busy,
            @Nullable Long memoryMiB,
            String pid,
            String command) {
        Long most = granted(on);
        String memory = memory(memoryMiB, most);
        if (memoryMiB != null) {
            used = memoryMiB + (used == null ? 0 : used);
            if (most != null && memoryMiB > most) {
                alarming.add(memory);
            }
        }
        var row =
                new ArrayList<>(
                        List.of(
                                pod.metadata().name(),
                                pod.metadata().namespace(),
                                indexes(on),
                                pod.status().node(),
                                busy,
                                memory,
                                pid,
                                command,
                                plain(shares(pod))));
        if (format != Format.TABLE) {
            row.add(on.stream().map(Device::uuid).collect(Collectors.joining(":")));
            row.add(Objects.toString(pod.status().asOf(), ""));
        }
        rows.add(row);
    }

    /** Whoever opens CSV in a spreadsheet must not compute what a tenant has called his program. */
    private String shown(@Nullable String command) {
        String name = requireNonNullElse(command, "");
        return format == Format.CSV && !name.isEmpty() && "=+-@".indexOf(name.charAt(0)) >= 0
                ? "'" + name
                : name;
    }

    /** Of what the pod holds, in whole percent; nothing where that is not known. */
    private String busy(Total process, PodProcesses pod) {
        BigDecimal held = shares(pod);
        if (process.busyPercent() == null || held.signum() <= 0) {
            return "";
        }
        long percent =
                new BigDecimal(process.busyPercent())
                        .movePointRight(2)
                        .divide(held, 0, RoundingMode.DOWN)
                        .longValue();
        String text = percent + "%";
        if (percent > SHARES) {
            alarming.add(text);
        }
        return text;
    }

    private static BigDecimal shares(PodProcesses pod) {
        return new BigDecimal(pod.status().gpus()).movePointRight(2);
    }

    private static String memory(@Nullable Long usedMiB, @Nullable Long mostMiB) {
        return usedMiB == null && mostMiB == null
                ? ""
                : Objects.toString(usedMiB, "-") + "/" + Objects.toString(mostMiB, "-");
    }

    private static @Nullable Long granted(List<Device> on) {
        long sum = 0;
        for (Device device : on) {
            if (device.grantedMiB() == null) {
                return null;
            }
            sum += device.grantedMiB();
        }
        return on.isEmpty() ? null : Long.valueOf(sum);
    }

    private static String indexes(List<Device> on) {
        return on.stream().allMatch(it -> it.index() == null)
                ? ""
                : on.stream()
                        .map(it -> Objects.toString(it.index(), "-"))
                        .collect(Collectors.joining(":"));
    }

    private static String plain(BigDecimal number) {
        return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
    }
}
