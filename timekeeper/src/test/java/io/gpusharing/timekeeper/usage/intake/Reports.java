package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.MemoryExcessLog;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unattributed;
import io.gpusharing.timekeeper.usage.reporter.Pods;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Reports as meters write them. */
public final class Reports {

    public static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");
    static final String GPU = "GPU-1f2e3d4c-0000-0000-0000-000000000000";
    public static final UsageProperties PROPERTIES =
            new UsageProperties(
                    org.springframework.util.unit.DataSize.ofKilobytes(64),
                    org.springframework.util.unit.DataSize.ofKilobytes(64),
                    Duration.ofSeconds(10),
                    12,
                    5_000,
                    10_000,
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(10),
                    Duration.ofMinutes(1),
                    Duration.ofHours(1));

    /** As where nobody is evicted for memory. */
    public static final MemoryExcessLog NOBODY_WANTS_TO_KNOW =
            new MemoryExcessLog() {
                @Override
                public boolean isWanted() {
                    return false;
                }

                @Override
                public void reported(String node, List<MemoryExceeded> pods, Instant at) {
                    throw new AssertionError("it is not wanted");
                }
            };

    private Reports() {}

    /** A pod that was bound at noon and holds a part of one GPU. */
    public static ReportingPod pod(UUID uid) {
        return new ReportingPod(uid, "n1", NOON, 1, false);
    }

    /** The pods that the watch has. */
    static Pods watched(Function<UUID, Optional<ReportingPod>> pods, boolean known) {
        return new Pods() {
            @Override
            public Optional<ReportingPod> find(UUID uid) {
                return pods.apply(uid);
            }

            @Override
            public boolean known() {
                return known;
            }
        };
    }

    static Reporter sidecarOf(UUID pod) {
        return new Reporter("team-a/default", "team-a", "pod", pod, "n1");
    }

    public static Reporter agentOn(String node) {
        return new Reporter(
                "gpusharing-system/gpusharing-node-agent",
                "gpusharing-system",
                "agent-" + node,
                UUID.nameUUIDFromBytes(node.getBytes(java.nio.charset.StandardCharsets.UTF_8)),
                node);
    }

    public static UsageReport sidecar(UUID run, long sequence, UUID pod, DeviceUse... devices) {
        return new UsageReport(
                run,
                sequence,
                Meter.Sidecar,
                List.of(new PodUse(pod, List.of(devices))),
                List.of(),
                List.of(),
                List.of(),
                null);
    }

    public static UsageReport agent(UUID run, long sequence, PodUse... pods) {
        return new UsageReport(
                run,
                sequence,
                Meter.Agent,
                List.of(pods),
                List.of(new Unattributed(GPU, sequence)),
                List.of(),
                List.of(),
                null);
    }

    /** A GPU that was busy for so many of so many seconds. */
    public static DeviceUse use(double busy, double covered) {
        return use(GPU, busy, covered);
    }

    public static DeviceUse use(String gpu, double busy, double covered) {
        return new DeviceUse(
                gpu,
                Basis.Process,
                "",
                (long) (busy * 1_000_000),
                (long) (busy * 1_000_000),
                (long) (busy * 1_000_000_000),
                (long) (covered * 1_000_000),
                0);
    }

    /** The report as it comes at a time after noon. */
    public static Delivery sent(UsageReport report, ReportingPod pod, Duration afterNoon) {
        return new Delivery(
                sidecarOf(pod.uid()),
                report,
                report.digest(),
                Map.of(pod.uid(), pod),
                NOON.plus(afterNoon));
    }
}
