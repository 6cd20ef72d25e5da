package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.RunningProcesses.NodeReport;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.Running;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProcessReportsTest {

    private final UUID ours = UUID.randomUUID();
    private final UUID elsewhere = UUID.randomUUID();
    private final RunningProcesses processes =
            new RunningProcesses(ReportDatabase.rows("process-reports"));

    @BeforeEach
    void nothingRuns() {
        processes.forgetSilent(NOON.plus(Duration.ofDays(1)));
    }

    private Map<String, NodeReport> noted(boolean wanted, @Nullable Running told) {
        var report =
                new UsageReport(
                        UUID.randomUUID(),
                        1,
                        Meter.Agent,
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        told);
        new ProcessReports(processes, wanted, Runnable::run)
                .note(
                        new Delivery(
                                agentOn("n1"),
                                report,
                                report.digest(),
                                Map.of(ours, pod(ours)),
                                NOON));
        return processes.of(List.of("n1"), List.of(ours, elsewhere), NOON);
    }

    private static Running on(UUID... pods) {
        return new Running(true, Stream.of(pods).map(ProcessReportsTest::idle).toList());
    }

    private static PodProcesses idle(UUID pod) {
        return new PodProcesses(pod, "GPU-1", null, null, 0, List.of());
    }

    @Test
    void anAgentIsBelievedAboutPodsOfItsNodeAlone() {
        assertThat(noted(true, on(ours, elsewhere)).get("n1"))
                .isEqualTo(new NodeReport(NOON, true, Map.of(ours, List.of(idle(ours)))));
    }

    @Test
    void anAgentThatTellsNoProcessesIsNotTakenForOneThatSeesNone() {
        assertThat(noted(true, null)).isEmpty();
        assertThat(noted(true, on())).containsOnlyKeys("n1");
    }

    @Test
    void whereNobodyCanAskNothingIsKept() {
        assertThat(noted(false, on(ours))).isEmpty();
    }
}
