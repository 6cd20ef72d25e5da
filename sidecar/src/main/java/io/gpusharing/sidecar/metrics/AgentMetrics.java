package io.gpusharing.sidecar.metrics;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlCall;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.meter.GpuEvents;
import io.gpusharing.sidecar.meter.Meter;
import io.gpusharing.sidecar.report.Reporter;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceState;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Usage;
import java.math.BigDecimal;

/**
 * What the node agent shows: per pod and GPU in base units, counters for all that adds up. With
 * {@code dcgmNames} also the two gauges of dcgm-exporter that most dashboards draw.
 */
public final class AgentMetrics {

    /** Name, type and help of each. */
    private static final String METRICS =
            """
            gpusharing_gpu_busy_seconds_total counter Busy time of a GPU by a pod's container, in seconds of a GPU.
            gpusharing_gpu_busy_at_most_seconds_total counter The most that busy time can have been, where others on the GPU computed, too.
            gpusharing_gpu_covered_seconds_total counter Time in which a pod's use of a GPU was measured.
            gpusharing_gpu_uncovered_seconds_total counter Time in which a pod's use of a GPU was not measured.
            gpusharing_gpu_memory_byte_seconds_total counter GPU memory held, integrated over covered time.
            gpusharing_gpu_memory_used_bytes gauge GPU memory that a pod holds now; 0 where the driver hides it.
            gpusharing_gpu_memory_granted_bytes gauge GPU memory that a pod was given, where it was given a part.
            gpusharing_gpu_use_without_request gauge 1 for a pod that uses a GPU that it was not given.
            gpusharing_grants_readable gauge 1 while the device plugin's grants say who may use which GPU, 0 if its file cannot be used.
            gpusharing_unattributed_busy_seconds_total counter Busy time of a GPU that belongs to no pod.
            gpusharing_meter_basis gauge 1 for the method by which a GPU is metered now.
            gpusharing_nvml_errors_total counter Calls into NVML that did not succeed, by answer.
            gpusharing_xid_errors_total counter Critical errors (XID) that a GPU reported.
            gpusharing_reports_total counter Usage reports to the timekeeper.
            """;

    private static final PodName UNNAMED = new PodName("", "");

    private final Meter meter;
    private final Reporter reporter;
    private final NodeFiles files;
    private final GpuEvents gpuEvents;
    private final String node;
    private final boolean dcgmNames;

    /**
     * @param node the node's name, for {@code Hostname}
     * @param dcgmNames whether to show dcgm-exporter's names too
     */
    public AgentMetrics(
            Meter meter,
            Reporter reporter,
            NodeFiles files,
            GpuEvents gpuEvents,
            String node,
            boolean dcgmNames) {
        this.meter = meter;
        this.reporter = reporter;
        this.files = files;
        this.gpuEvents = gpuEvents;
        this.node = node;
        this.dcgmNames = dcgmNames;
    }

    /** The page. */
    public String page() {
        MetricsText text = announced();
        Usage usage = meter.usage();
        for (PodUse pod : usage.pods()) {
            for (DeviceUse device : pod.devices()) {
                pod(text, pod, device);
            }
        }
        for (Usage.Unattributed device : usage.unattributed()) {
            text.sample(
                    "gpusharing_unattributed_busy_seconds_total",
                    seconds(device.gpuMicroseconds()),
                    "gpu_uuid",
                    device.uuid());
        }
        for (DeviceState device : meter.devices()) {
            device(text, device);
        }
        if (files.grants() != NodeFiles.Grants.ABSENT) {
            boolean readable = files.grants() == NodeFiles.Grants.READ;
            text.sample("gpusharing_grants_readable", readable ? "1" : "0");
        }
        nvml(text);
        gpuEvents
                .counts()
                .forEach((xid, count) ->
                        text.sample(
                                "gpusharing_xid_errors_total",
                                Long.toString(count),
                                "gpu_uuid",
                                xid.uuid(),
                                "xid",
                                Long.toString(xid.number())));
        text.sample("gpusharing_reports_total", Long.toString(reporter.taken()), "result", "taken");
        text.sample(
                "gpusharing_reports_total", Long.toString(reporter.notTaken()), "result", "failed");
        return text.toString();
    }

    private MetricsText announced() {
        MetricsText text = new MetricsText();
        METRICS.lines()
                .map(line -> line.split(" ", 3))
                .forEach(it -> text.metric(it[0], it[1], it[2]));
        if (dcgmNames) {
            text.metric("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).");
            text.metric("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).");
        }
        return text;
    }

    private void pod(MetricsText text, PodUse pod, DeviceUse device) {
        PodName name = pod.name() == null ? UNNAMED : pod.name();
        String[] labels = {
            "namespace",
            name.namespace(),
            "pod",
            name.pod(),
            "pod_uid",
            pod.uid(),
            "gpu_uuid",
            device.uuid()
        };
        for (DeviceUse.Part part : device.parts()) {
            busy(text, labels, part);
        }
        if (device.parts().isEmpty()) {
            busy(text, labels, new DeviceUse.Part("", device.measuredBy(), 0));
        }
        text.sample(
                "gpusharing_gpu_busy_at_most_seconds_total",
                seconds(device.atMostMicroseconds()),
                labels);
        text.sample(
                "gpusharing_gpu_covered_seconds_total",
                seconds(device.coveredMicroseconds()),
                labels);
        text.sample(
                "gpusharing_gpu_uncovered_seconds_total",
                seconds(device.uncoveredMicroseconds()),
                labels);
        text.sample(
                "gpusharing_gpu_memory_byte_seconds_total",
                Long.toString(device.memoryByteSeconds()),
                labels);
        text.sample(
                "gpusharing_gpu_memory_used_bytes",
                Long.toString(device.memory().usedBytes()),
                labels);
        if (device.memory().grantedBytes() > 0) {
            text.sample(
                    "gpusharing_gpu_memory_granted_bytes",
                    Long.toString(device.memory().grantedBytes()),
                    labels);
        }
        if (files.knowsWhoAsked()) {
            text.sample("gpusharing_gpu_use_without_request", device.unasked() ? "1" : "0", labels);
        }
    }

    private static void busy(MetricsText text, String[] labels, DeviceUse.Part part) {
        text.sample(
                "gpusharing_gpu_busy_seconds_total",
                seconds(part.gpuMicroseconds()),
                labels[0],
                labels[1],
                labels[2],
                labels[3],
                labels[4],
                labels[5],
                labels[6],
                labels[7],
                "container_id",
                part.containerId(),
                "basis",
                part.basis().wire());
    }

    private void device(MetricsText text, DeviceState device) {
        for (Basis basis : Basis.values()) {
            text.sample(
                    "gpusharing_meter_basis",
                    basis == device.basis() ? "1" : "0",
                    "gpu_uuid",
                    device.uuid(),
                    "basis",
                    basis.wire());
        }
        if (dcgmNames) {
            String[] labels = {"UUID", device.uuid(), "modelName", device.name(), "Hostname", node};
            text.sample("DCGM_FI_DEV_GPU_UTIL", Long.toString(device.busyPercent()), labels);
            text.sample(
                    "DCGM_FI_DEV_FB_USED", Long.toString(device.memoryUsedBytes() >> 20), labels);
        }
    }

    private void nvml(MetricsText text) {
        Nvml nvml = meter.nvml();
        if (nvml == null) {
            return;
        }
        for (NvmlCall call : NvmlCall.values()) {
            for (NvmlReturn answer : NvmlReturn.values()) {
                long count = nvml.failures(call, answer);
                if (count > 0) {
                    text.sample(
                            "gpusharing_nvml_errors_total",
                            Long.toString(count),
                            "call",
                            call.symbols().getFirst(),
                            "code",
                            answer.name());
                }
            }
        }
    }

    /** Seconds with all their digits, and no exponent. */
    private static String seconds(long micros) {
        return BigDecimal.valueOf(micros, 6).toPlainString();
    }
}
