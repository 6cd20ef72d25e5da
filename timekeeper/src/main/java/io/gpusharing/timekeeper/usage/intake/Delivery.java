package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.Counters;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A report whose sender is known, with the pods that it may report.
 *
 * @param digest of its content
 * @param pods those of the report's pods that are known; the others are passed over
 * @param at when it came, by our clock
 */
public record Delivery(
        Reporter reporter,
        UsageReport report,
        UUID digest,
        Map<UUID, ReportingPod> pods,
        Instant at) {

    /** What makes it the same report again. */
    record Key(UUID reporter, UUID run, long sequence) {}

    Key key() {
        return new Key(reporter.pod(), report.run(), report.sequence());
    }

    Stream<Counters> counters() {
        return report.pods().stream()
                .filter(pod -> pods.containsKey(pod.uid()))
                .flatMap(pod -> pod.devices().stream().map(device -> counters(pod, device)));
    }

    int size() {
        return 1 + report.pods().stream().map(PodUse::devices).mapToInt(List::size).sum();
    }

    private Counters counters(PodUse pod, DeviceUse device) {
        return new Counters(
                new Counters.Key(pod.uid(), report.run(), report.meter(), device.uuid()),
                device.basis(),
                device.basisReason(),
                device.gpuMicroseconds(),
                device.atMost(),
                device.memoryByteSeconds(),
                device.coveredMicroseconds(),
                device.uncoveredMicroseconds(),
                report.sequence(),
                at);
    }
}
