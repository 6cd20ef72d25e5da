package io.gpusharing.timekeeper.usage;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.PROPERTIES;
import static io.gpusharing.timekeeper.usage.intake.Reports.agent;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static io.gpusharing.timekeeper.usage.intake.Reports.sent;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.Delivery;
import io.gpusharing.timekeeper.usage.intake.ReportDatabase;
import io.gpusharing.timekeeper.usage.intake.UsageReportRepository;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class AgentMeasurementsTest {

    private final UUID uid = UUID.randomUUID();
    private final UsageReportRepository reports =
            new UsageReportRepository(
                    ReportDatabase.rows("c1"), ReportDatabase.transaction(), PROPERTIES);
    private final AgentMeasurements measurements =
            new AgentMeasurements(
                    new ClusterDatabase(JdbcClient.create(ReportDatabase.DATA_SOURCE), "c1"));

    private void agentReports(UUID run, double busy, double covered) {
        UsageReport report = agent(run, 1, new PodUse(uid, List.of(use(busy, covered))));
        reports.post(
                List.of(
                        new Delivery(
                                agentOn("n1"),
                                report,
                                report.digest(),
                                Map.of(uid, pod(uid)),
                                NOON.plusSeconds(60))));
    }

    @Test
    void anAgentsRunsAddUp() {
        agentReports(UUID.randomUUID(), 5, 20);
        agentReports(UUID.randomUUID(), 10, 30);

        assertThat(measurements.of(List.of(uid)))
                .containsEntry(uid, new Measured(15_000_000, 50_000_000, 1, NOON.plusSeconds(60)));
    }

    @Test
    void aSidecarsReportNeverLowersACharge() {
        reports.post(
                List.of(
                        sent(
                                sidecar(UUID.randomUUID(), 1, uid, use(0, 55)),
                                pod(uid),
                                Duration.ofMinutes(1))));

        assertThat(measurements.of(List.of(uid))).isEmpty();
    }
}
