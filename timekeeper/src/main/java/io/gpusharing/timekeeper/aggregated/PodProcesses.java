package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.aggregated.Table.Column;
import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.usage.RunningProcesses.NodeReport;
import io.gpusharing.timekeeper.usage.UsageReport;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The processes of a pod on GPUs, as its node's agent saw them last. */
record PodProcesses(String kind, String apiVersion, PodUsage.Metadata metadata, Status status) {

    private static final String UNKNOWN = "<unknown>";
    private static final int MIB_BITS = 20;

    /** The columns of {@link #cells}. */
    static final List<Column> COLUMNS =
            List.of(
                    Column.ofNames(),
                    new Column("GPUs", "What the pod holds of processors, in whole GPUs"),
                    new Column("Processes", "How many it runs on GPUs; with + there are more"),
                    new Column("Memory", "What they hold of GPUs, in MiB"),
                    new Column("Busy", "How busy they keep a GPU, all together"),
                    new Column("Seen", "How long ago"),
                    new Column("Node", "Where it runs").wide(),
                    new Column("Commands", "What they are called").wide());

    /**
     * As of the agent's last report.
     *
     * @param gpus processors that the pod holds, in GPUs
     * @param asOf when the agent's report came, of a list up to ten seconds older; absent where it
     *     is not known what the pod runs
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Status(String node, String gpus, @Nullable Instant asOf, List<Device> devices) {}

    /**
     * A GPU on which it runs something, or that it was given.
     *
     * @param index NVML's number on the node; absent where it has none
     * @param grantedMiB memory that our device plugin gave it; absent where it gave none in
     *     particular, as with whole GPUs
     * @param processCount how many it runs there
     * @param processes those with most memory, 64 at most; fewer where a node runs more than 512
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Device(
            String uuid,
            @Nullable Integer index,
            @Nullable Long grantedMiB,
            int processCount,
            List<GpuProcess> processes) {

        static Device of(UsageReport.PodProcesses told) {
            return new Device(
                    told.device(),
                    told.index(),
                    mebibytes(told.grantedBytes()),
                    told.count(),
                    told.processes().stream().map(GpuProcess::of).toList());
        }
    }

    /**
     * One process.
     *
     * @param pid its number on the node
     * @param command the kernel's name of it; absent where the site does not tell it
     * @param memoryMiB absent where the driver does not say it
     * @param busyPercent of the whole GPU, over some ten seconds; absent where that is not measured
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record GpuProcess(
            long pid,
            @Nullable String command,
            @Nullable Long memoryMiB,
            @Nullable Integer busyPercent) {

        static GpuProcess of(UsageReport.GpuProcess told) {
            return new GpuProcess(
                    told.pid(), told.command(), mebibytes(told.memoryBytes()), told.busyPercent());
        }
    }

    /**
     * What an agent says of a pod.
     *
     * @param report its node's; null if there is none
     */
    static PodProcesses of(PodCharge pod, @Nullable NodeReport report) {
        Optional<List<UsageReport.PodProcesses>> told =
                report == null ? Optional.empty() : report.of(pod.uid(), pod.from());
        return new PodProcesses(
                "PodProcesses",
                Discovery.API_VERSION,
                PodUsage.Metadata.of(pod),
                new Status(
                        pod.node(),
                        GpuShare.inGpus(pod.computePart()),
                        report == null || told.isEmpty() ? null : report.at(),
                        told.orElse(List.of()).stream().map(Device::of).toList()));
    }

    private static @Nullable Long mebibytes(@Nullable Long bytes) {
        return bytes == null ? null : Long.valueOf(bytes >> MIB_BITS);
    }

    private List<GpuProcess> processes() {
        return status.devices().stream().flatMap(device -> device.processes().stream()).toList();
    }

    private boolean allAreTold() {
        return status.devices().stream()
                .allMatch(device -> device.processCount() == device.processes().size());
    }

    /** A process on several GPUs once. */
    private String count() {
        long told = processes().stream().mapToLong(GpuProcess::pid).distinct().count();
        return allAreTold() ? Long.toString(told) : told + "+";
    }

    /** In one line. */
    List<String> cells(Instant now) {
        Instant asOf = status.asOf();
        return List.of(
                metadata.name(),
                status.gpus(),
                asOf == null ? UNKNOWN : count(),
                asOf == null ? UNKNOWN : sum(GpuProcess::memoryMiB, ""),
                asOf == null ? UNKNOWN : sum(GpuProcess::busyPercent, "%"),
                asOf == null ? UNKNOWN : Age.of(asOf, now),
                status.node(),
                String.join(
                        ",",
                        processes().stream()
                                .map(GpuProcess::command)
                                .filter(Objects::nonNull)
                                .distinct()
                                .toList()));
    }

    /** Nothing is summed up of which a part is not known. */
    private String sum(Function<GpuProcess, @Nullable Number> part, String unit) {
        long sum = 0;
        for (GpuProcess process : processes()) {
            Number known = part.apply(process);
            if (known == null) {
                return UNKNOWN;
            }
            sum += known.longValue();
        }
        return allAreTold() ? sum + unit : UNKNOWN;
    }
}
