package io.gpusharing.cli.inspect;

import static java.util.Objects.requireNonNullElse;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * The tables of gpushare's {@code kubectl inspect gpushare} (gpushare-device-plugin, cmd/inspect),
 * to the letter, dashes and blanks included; only that theirs have no order, and these go by name.
 * Of what a GPU has whole GiB are shown, of what pods have of it those that are begun.
 */
final class GpushareTable {

    private static final String IN_CLUSTER = "Allocated/Total GPU Memory In Cluster:";
    private static final int MIB_PER_GIB = 1024;

    private final List<Host> hosts;
    private final int unitMiB;
    private final StringBuilder text = new StringBuilder();
    private long used;
    private long total;

    private GpushareTable(List<Host> hosts) {
        this.hosts = hosts;
        // Where gpushare's device plugin counts MiB, the whole table does.
        boolean mebibytes =
                hosts.stream()
                        .anyMatch(it ->
                                it.source() == Host.Source.Gpushare && it.memoryUnitMiB() == 1);
        this.unitMiB = mebibytes ? 1 : MIB_PER_GIB;
    }

    /** A line for each node. */
    static String summary(List<Host> hosts) {
        return new GpushareTable(hosts).summary();
    }

    /** A block for each node, with a line for each pod. */
    static String details(List<Host> hosts) {
        return new GpushareTable(hosts).details();
    }

    private String summary() {
        int gpus = hosts.stream().mapToInt(GpushareTable::gpus).max().orElse(0);
        boolean pending = hosts.stream().anyMatch(it -> !it.unplaced().isEmpty());
        text.append("NAME\tIPADDRESS\t");
        for (int i = 0; i < gpus; i++) {
            text.append("GPU%d(Allocated/Total)\t".formatted(i));
        }
        text.append(pending ? "PENDING(Allocated)\t" : "")
                .append("GPU Memory(%s)\n".formatted(unitMiB == 1 ? "MiB" : "GiB"));
        int dashes = 0;
        for (Host host : hosts) {
            String row = row(host, gpus, pending);
            text.append(row);
            // So many has the original.
            dashes = dashes == 0 ? row.length() + 20 : dashes;
        }
        text.repeat('-', dashes).append("\n");
        text.append(IN_CLUSTER).append("\n").append(inCluster());
        return ElasticTabs.laidOut(text.toString());
    }

    private String row(Host host, int gpus, boolean pending) {
        var columns = new String[gpus];
        Arrays.fill(columns, "0/0");
        for (HostGpu gpu : host.gpus()) {
            columns[gpu.index()] = used(gpu) + "/" + total(gpu);
        }
        var row = new StringBuilder();
        row.append(host.node()).append("\t").append(address(host)).append("\t");
        for (String column : columns) {
            row.append(column).append("\t");
        }
        if (pending) {
            row.append(host.unplaced().isEmpty() ? "" : Long.toString(unplaced(host))).append("\t");
        }
        row.append(used(host)).append("/").append(total(host)).append("\n");
        used += used(host);
        total += total(host);
        return row.toString();
    }

    private String details() {
        int dashes = 0;
        for (Host host : hosts) {
            text.append("\nNAME:\t").append(host.node());
            text.append("\nIPADDRESS:\t").append(address(host)).append("\n\nNAME\tNAMESPACE\t");
            for (int i = 0; i < gpus(host); i++) {
                text.append("GPU%d(Allocated)\t".formatted(i));
            }
            text.append(host.unplaced().isEmpty() ? "" : "Pending(Allocated)\t").append("\n");
            String pods = pods(host);
            text.append(pods);
            long all = total(host);
            text.append("Allocated :\t%s\t\n".formatted(withPercent(used(host), "", all)));
            text.append("Total :\t%d \t\n".formatted(all));
            dashes = dashes == 0 ? pods.length() + 10 : dashes;
            text.repeat('-', dashes).append("\n");
            used += used(host);
            total += all;
        }
        text.append("\n\n").append(IN_CLUSTER).append("\t").append(inCluster());
        return ElasticTabs.laidOut(text.toString());
    }

    /** A line for each pod, in the order of its first GPU. */
    private String pods(Host host) {
        int columns = gpus(host) + (host.unplaced().isEmpty() ? 0 : 1);
        var amounts = new LinkedHashMap<String, long[]>();
        for (HostGpu gpu : host.gpus()) {
            for (PodPart pod : gpu.pods()) {
                amounts.computeIfAbsent(cells(pod), it -> new long[columns])[gpu.index()] =
                        begun(pod.memoryMiB(), gpu);
            }
        }
        for (PodPart pod : host.unplaced()) {
            amounts.computeIfAbsent(cells(pod), it -> new long[columns])[columns - 1] =
                    Math.ceilDiv(pod.memoryMiB(), unitMiB);
        }
        var rows = new StringBuilder();
        amounts.forEach((pod, ofGpus) -> {
            rows.append(pod);
            for (long amount : ofGpus) {
                rows.append(amount).append("\t");
            }
            rows.append("\n");
        });
        return rows.toString();
    }

    private static String cells(PodPart pod) {
        return pod.pod() + "\t" + pod.namespace() + "\t";
    }

    private String inCluster() {
        return withPercent(used, "/" + total, total) + "\t\n";
    }

    private static String withPercent(long part, String more, long all) {
        // As the original rounds.
        long percent = all == 0 ? 0 : (long) ((double) part / all * 100);
        return "%d%s (%d%%)".formatted(part, more, percent);
    }

    private static String address(Host host) {
        return requireNonNullElse(host.address(), "unknown");
    }

    /** How many columns its GPUs need; numbers may be missing where GPUs are split. */
    private static int gpus(Host host) {
        return host.gpus().isEmpty() ? 0 : host.gpus().getLast().index() + 1;
    }

    private long used(Host host) {
        return host.gpus().stream().mapToLong(this::used).sum() + unplaced(host);
    }

    private long total(Host host) {
        return host.gpus().stream().mapToLong(this::total).sum();
    }

    private long used(HostGpu gpu) {
        return begun(gpu.allocatedMemoryMiB(), gpu);
    }

    private long total(HostGpu gpu) {
        return gpu.isSplit() ? 0 : gpu.memoryMiB() / unitMiB;
    }

    private long unplaced(Host host) {
        return host.unplaced().stream()
                .mapToLong(pod -> Math.ceilDiv(pod.memoryMiB(), unitMiB))
                .sum();
    }

    /** A whole GPU has no more than it has. */
    private long begun(long mebibytes, HostGpu of) {
        long units = Math.ceilDiv(mebibytes, unitMiB);
        return mebibytes <= of.memoryMiB() ? Math.min(units, total(of)) : units;
    }
}
