package io.gpusharing.sidecar.report;

import io.gpusharing.sidecar.json.Json;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.PodUse;
import io.gpusharing.sidecar.usage.Usage;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * One usage report as it goes over the wire. Counters are cumulative, so a report that is lost is
 * made good by the next one, and one that arrives twice changes nothing.
 *
 * @param run names the run of counters; a new one begins at zero
 * @param sequence grows by one with each report of a run, also with those that were never answered
 * @param meter {@code Sidecar} or {@code Agent}
 */
public record UsageReport(String run, long sequence, String meter, Usage usage) {

    private static final int UUID_LENGTH = 36;
    private static final int LONGEST_REASON = 256;

    /** Whoever starts many processes must not make his node's report too large to be taken. */
    private static final int MOST_PROCESSES = 512;

    private static final int MOST_PROCESSES_OF_POD = 64;

    /** The JSON object that {@code POST /api/v1/usage} takes. */
    public String toJson() {
        StringBuilder out = new StringBuilder(512);
        out.append("{\"run\":");
        Json.quote(out, run);
        out.append(",\"sequence\":").append(sequence).append(",\"meter\":");
        Json.quote(out, meter);
        out.append(",\"pods\":");
        array(
                out,
                usage.pods().stream().filter(pod -> hasUid(pod.uid())).toList(),
                UsageReport::pod);
        out.append(",\"unattributed\":");
        array(out, usage.unattributed(), UsageReport::unattributed);
        if (!usage.unasked().isEmpty()) {
            out.append(",\"unasked\":");
            array(out, usage.unasked(), UsageReport::unasked);
        }
        if (!usage.exceeded().isEmpty()) {
            out.append(",\"exceeded\":");
            array(out, usage.exceeded(), UsageReport::exceeded);
        }
        if (meter.equals("Agent")) {
            out.append(",\"running\":");
            running(out, usage.running());
        }
        return out.append('}').toString();
    }

    /**
     * A static pod's control group names the hash of its manifest, which is no UID that anybody
     * else knows: it is shown in the metrics and not reported.
     */
    private static boolean hasUid(String uid) {
        return uid.length() == UUID_LENGTH;
    }

    /** One line of bounded length, as the timekeeper takes it. */
    private static String line(String reason) {
        String line = reason.replaceAll("\\p{Cntrl}", " ");
        return line.length() > LONGEST_REASON ? line.substring(0, LONGEST_REASON - 1) + "…" : line;
    }

    /**
     * Counters are cumulative: time that was measured before the meter fell is still in them, and
     * the basis says how it was measured. That nothing is measured now shows in the reason, and in
     * uncovered time that grows.
     */
    private static boolean measuredBefore(DeviceUse device) {
        return device.basis() == Basis.ALLOCATION && device.gpuMicroseconds() > 0;
    }

    private static void pod(StringBuilder out, PodUse pod) {
        out.append("{\"uid\":");
        Json.quote(out, pod.uid());
        out.append(",\"devices\":");
        array(out, pod.devices(), UsageReport::device);
        out.append('}');
    }

    private static void device(StringBuilder out, DeviceUse device) {
        out.append("{\"uuid\":");
        Json.quote(out, device.uuid());
        boolean before = measuredBefore(device);
        Basis basis = before ? device.measuredBy() : device.basis();
        String reason = before ? "not measured now: " + device.basisReason() : device.basisReason();
        out.append(",\"basis\":\"").append(basis.wire()).append("\",\"basisReason\":");
        Json.quote(out, line(reason));
        out.append(",\"gpuMicroseconds\":").append(device.gpuMicroseconds());
        out.append(",\"atMostMicroseconds\":").append(device.atMostMicroseconds());
        out.append(",\"memoryByteSeconds\":").append(device.memoryByteSeconds());
        out.append(",\"coveredMicroseconds\":").append(device.coveredMicroseconds());
        out.append(",\"uncoveredMicroseconds\":").append(device.uncoveredMicroseconds());
        out.append('}');
    }

    private static void unattributed(StringBuilder out, Usage.Unattributed unattributed) {
        out.append("{\"uuid\":");
        Json.quote(out, unattributed.uuid());
        out.append(",\"gpuMicroseconds\":").append(unattributed.gpuMicroseconds()).append('}');
    }

    /** The beginning of an object about a pod. */
    private static void names(StringBuilder out, String uid, String namespace, String pod) {
        out.append("{\"uid\":");
        Json.quote(out, uid);
        out.append(",\"namespace\":");
        Json.quote(out, namespace);
        out.append(",\"pod\":");
        Json.quote(out, pod);
    }

    private static void unasked(StringBuilder out, Usage.Unasked pod) {
        names(out, pod.uid(), pod.namespace(), pod.pod());
        if (!pod.devices().isEmpty()) {
            out.append(",\"devices\":");
            array(out, pod.devices(), Json::quote);
        }
        out.append('}');
    }

    private static void exceeded(StringBuilder out, Usage.MemoryExceeded pod) {
        names(out, pod.uid(), pod.namespace(), pod.pod());
        out.append(",\"device\":");
        Json.quote(out, pod.device());
        out.append(",\"usedBytes\":").append(pod.usedBytes());
        out.append(",\"grantedBytes\":").append(pod.grantedBytes()).append('}');
    }

    /** Where there is no room for all, those pods are cut short that run most. */
    private static void running(StringBuilder out, Usage.Running running) {
        List<PodProcesses> pods = running.pods().stream().filter(pod -> hasUid(pod.uid())).toList();
        int most = MOST_PROCESSES_OF_POD;
        while (told(pods, most) > MOST_PROCESSES) {
            most--;
        }
        int atMost = most;
        out.append("{\"whole\":").append(running.isWhole()).append(",\"pods\":");
        array(out, pods, (to, pod) -> processes(to, pod.first(atMost)));
        out.append('}');
    }

    private static int told(List<PodProcesses> pods, int most) {
        return pods.stream().mapToInt(pod -> Math.min(pod.count(), most)).sum();
    }

    private static void processes(StringBuilder out, PodProcesses pod) {
        out.append("{\"uid\":");
        Json.quote(out, pod.uid());
        out.append(",\"device\":");
        Json.quote(out, pod.device());
        if (pod.index() >= 0) {
            out.append(",\"index\":").append(pod.index());
        }
        if (pod.grantedBytes() > 0) {
            out.append(",\"grantedBytes\":").append(pod.grantedBytes());
        }
        out.append(",\"count\":").append(pod.count()).append(",\"processes\":");
        array(out, pod.processes(), UsageReport::process);
        out.append('}');
    }

    private static void process(StringBuilder out, PodProcesses.GpuProcess process) {
        out.append("{\"pid\":").append(process.pid());
        if (!process.command().isEmpty()) {
            out.append(",\"command\":");
            Json.quote(out, process.command());
        }
        if (process.memoryBytes() > 0) {
            out.append(",\"memoryBytes\":").append(process.memoryBytes());
        }
        if (process.busyPercent() >= 0) {
            out.append(",\"busyPercent\":").append(process.busyPercent());
        }
        out.append('}');
    }

    private static <T> void array(
            StringBuilder out, List<T> items, BiConsumer<StringBuilder, T> item) {
        out.append('[');
        for (int i = 0; i < items.size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            item.accept(out, items.get(i));
        }
        out.append(']');
    }
}
