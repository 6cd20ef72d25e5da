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

import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.usage.MeasuredUse.Measured;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.Delivery;
import io.gpusharing.timekeeper.usage.intake.ReportDatabase;
import io.gpusharing.timekeeper.usage.intake.UsageReportRepository;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class MeasuredUseTest {

    private static final Duration AN_HOUR = Duration.ofHours(1);

    private final UUID uid = UUID.randomUUID();
    private final UsageReportRepository reports =
            new UsageReportRepository(
                    ReportDatabase.rows("measured"), ReportDatabase.transaction(), PROPERTIES);
    private final SteppingClock clock = new SteppingClock(NOON);
    private final MeasuredUse measured =
            new MeasuredUse(
                    new ClusterDatabase(JdbcClient.create(ReportDatabase.DATA_SOURCE), "measured"),
                    clock);

    private void sidecarReports(UUID run, double busy, double covered) {
        reports.post(List.of(sent(sidecar(run, 1, uid, use(busy, covered)), pod(uid), AN_HOUR)));
    }

    private void agentReports(double busy, double covered) {
        UsageReport report =
                agent(UUID.randomUUID(), 1, new PodUse(uid, List.of(use(busy, covered))));
        reports.post(
                List.of(
                        new Delivery(
                                agentOn("n1"),
                                report,
                                report.digest(),
                                Map.of(uid, pod(uid)),
                                NOON.plus(AN_HOUR))));
    }

    private Measured found() {
        return java.util.Objects.requireNonNull(measured.of(List.of(uid)).get(uid));
    }

    /** A tenant's pod may say that it held a TiB on each of 16 GPUs, in each of its runs. */
    @Test
    void memoryBeyondAnyNumberIsTheLargest() {
        Duration alive = Duration.ofDays(8);
        long most = (1L << 40) * alive.toSeconds();
        DeviceUse[] all = new DeviceUse[16];
        for (int i = 0; i < all.length; i++) {
            all[i] = new DeviceUse("GPU-" + i, Basis.Process, "", 0, null, most, 0, 0);
        }
        reports.post(List.of(sent(sidecar(UUID.randomUUID(), 1, uid, all), pod(uid), alive)));

        assertThat(found().memoryByteSeconds()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void addsUpTheRunsOfAMeter() {
        sidecarReports(UUID.randomUUID(), 30, 100);
        sidecarReports(UUID.randomUUID(), 20, 100);

        assertThat(found().measured()).isEqualTo(50_000_000);
        assertThat(found().coveredMicroseconds()).isEqualTo(200_000_000);
    }

    @Test
    void countsTheMeterThatSawMore() {
        sidecarReports(UUID.randomUUID(), 30, 100);
        agentReports(90, 300);

        assertThat(found().meter()).isEqualTo("Agent");
        assertThat(found().measured()).isEqualTo(90_000_000);
    }

    @Test
    void countsTheSidecarWhereTheAgentCameLate() {
        sidecarReports(UUID.randomUUID(), 30, 100);
        agentReports(1, 10);

        assertThat(found().meter()).isEqualTo("Sidecar");
    }

    @Test
    void countsTheAgentWhereBothSawTheSame() {
        sidecarReports(UUID.randomUUID(), 30, 100);
        agentReports(31, 100);

        assertThat(found().meter()).isEqualTo("Agent");
    }

    @Test
    void saysHowMuchOfTheShareWasBusy() {
        sidecarReports(UUID.randomUUID(), 30, 100);

        assertThat(found().busy(500_000)).isEqualTo(new Busy("60.0", null));
        assertThat(found().busy(0)).isEqualTo(new Busy(null, null));
    }

    @Test
    void whoMayHaveComputedMoreThanWasSeenIsNotSaidToBeIdle() {
        DeviceUse hidden =
                new DeviceUse("GPU-1", Basis.Process, "", 100_000, 45_000_000L, 0, 100_000_000, 0);
        reports.post(List.of(sent(sidecar(UUID.randomUUID(), 1, uid, hidden), pod(uid), AN_HOUR)));

        assertThat(found().measuredAtMost()).isEqualTo(45_000_000);
        assertThat(found().busy(500_000)).isEqualTo(new Busy(null, "90.0"));
    }

    @Test
    void whatAnOlderMeterCountedBesideOthersIsNotCertain() {
        oldMeter(Basis.Process);

        assertThat(found().busy(500_000)).isEqualTo(new Busy(null, "200.0"));
    }

    @Test
    void whatAnOlderMeterCountedOfAGpuThatIsThePodsAloneIsCertain() {
        oldMeter(Basis.Device);

        assertThat(found().busy(500_000)).isEqualTo(new Busy("20.0", null));
    }

    private void oldMeter(Basis basis) {
        var use = new DeviceUse("GPU-1", basis, "", 10_000_000, null, 0, 100_000_000, 0);
        reports.post(List.of(sent(sidecar(UUID.randomUUID(), 1, uid, use), pod(uid), AN_HOUR)));
    }

    @Test
    void nobodyCanHaveComputedForLongerThanWasWatched() {
        DeviceUse boasting =
                new DeviceUse("GPU-1", Basis.Process, "", 0, Long.MAX_VALUE, 0, 100_000_000, 0);
        reports.post(
                List.of(sent(sidecar(UUID.randomUUID(), 1, uid, boasting), pod(uid), AN_HOUR)));

        assertThat(found().measuredAtMost()).isEqualTo(100_000_000);
    }

    @Test
    void aGpuThatWasNotFoundAtOnceLeavesNoTraceInTheBasis() {
        UUID run = UUID.randomUUID();
        DeviceUse unknown =
                new DeviceUse("unknown", Basis.Allocation, "no driver yet", 0, null, 0, 0, 400_000);
        reports.post(List.of(sent(sidecar(run, 1, uid, unknown), pod(uid), Duration.ofMinutes(1))));
        assertThat(found().basis()).isEqualTo("Allocation");

        reports.post(List.of(sent(sidecar(run, 2, uid, use(30, 100)), pod(uid), AN_HOUR)));

        assertThat(found().basis()).isEqualTo("Process");
        assertThat(found().basisReason()).isNull();
    }

    @Test
    void aPodThatWasNotMeasuredIsLeftOut() {
        assertThat(measured.of(List.of(uid))).isEmpty();
    }

    @Test
    void addsUpThePodsOfABudget() {
        allocated(NOON, null);
        sidecarReports(UUID.randomUUID(), 30, 100);

        assertThat(measured.ofBudget(uid.toString(), NOON).microGpuSeconds()).isEqualTo(30_000_000);
        assertThat(measured.ofBudget("another", NOON).microGpuSeconds()).isZero();
    }

    @Test
    void leavesOutPodsThatEndedBefore() {
        allocated(NOON.minus(AN_HOUR), NOON);
        sidecarReports(UUID.randomUUID(), 30, 100);

        assertThat(measured.ofBudget(uid.toString(), NOON).microGpuSeconds()).isZero();
        assertThat(measured.ofBudget(uid.toString(), NOON.minusSeconds(1)).microGpuSeconds())
                .isEqualTo(30_000_000);
    }

    @Test
    void readsThePodsOfABudgetAgainAfterTenSeconds() {
        allocated(NOON, null);
        measured.ofBudget(uid.toString(), NOON);
        sidecarReports(UUID.randomUUID(), 30, 100);

        assertThat(measured.ofBudget(uid.toString(), NOON).microGpuSeconds()).isZero();
        clock.pass(Duration.ofSeconds(10));
        assertThat(measured.ofBudget(uid.toString(), NOON).microGpuSeconds()).isEqualTo(30_000_000);
    }

    /**
     * The pod is one of a budget that is called by its UID.
     *
     * @param until null while it runs
     */
    private void allocated(Instant from, @Nullable Instant until) {
        ReportDatabase.jdbc()
                .update(
                        "insert into cluster (id, metering_start) values ('measured', ?)"
                                + " on conflict do nothing",
                        Timestamp.from(NOON));
        ReportDatabase.jdbc()
                .update(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget,
                               share_rate, rate, compute_part, memory_part, compute_numerator, compute_denominator,
                               memory_numerator, memory_denominator, share_known, held_from,
                               posted_until, charged_until, held_until)
                        values ('measured', ?, 'team-a', 'p', 'n1', ?, 1, 1, 1, 1, 1, 1000000, 1, 1000000, true, ?, ?, ?, ?)
                        """,
                        uid,
                        uid.toString(),
                        Timestamp.from(from),
                        Timestamp.from(from),
                        Timestamp.from(from),
                        until == null ? null : Timestamp.from(until));
    }
}
