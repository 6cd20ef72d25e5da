package io.gpusharing.timekeeper.usage;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.RunningProcesses.NodeReport;
import io.gpusharing.timekeeper.usage.UsageReport.GpuProcess;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.Running;
import io.gpusharing.timekeeper.usage.intake.ReportDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunningProcessesTest {

    private static final Instant EARLIER = NOON.minusSeconds(600);

    private final UUID one = UUID.randomUUID();
    private final UUID other = UUID.randomUUID();
    private final RunningProcesses processes =
            new RunningProcesses(ReportDatabase.rows("processes"));

    @BeforeEach
    void nothingRuns() {
        processes.forgetSilent(NOON.plus(Duration.ofDays(1)));
    }

    private static PodProcesses on(UUID pod, String gpu, long... pids) {
        return new PodProcesses(
                pod,
                gpu,
                null,
                null,
                pids.length,
                java.util.Arrays.stream(pids)
                        .mapToObj(pid -> new GpuProcess(pid, "it", 5L, null))
                        .toList());
    }

    private Map<String, NodeReport> found(Instant now) {
        return processes.of(List.of("n1", "n2", "n3"), List.of(one), now);
    }

    @Test
    void aPodIsToldWithAllItsGpusAndNoOtherPods() {
        processes.reported(
                "n1",
                new Running(
                        true,
                        List.of(on(one, "GPU-1", 7), on(one, "GPU-2", 7), on(other, "GPU-1", 9))),
                NOON);

        assertThat(found(NOON))
                .containsExactly(
                        Map.entry(
                                "n1",
                                new NodeReport(
                                        NOON,
                                        true,
                                        Map.of(
                                                one,
                                                List.of(
                                                        on(one, "GPU-1", 7),
                                                        on(one, "GPU-2", 7))))));
    }

    @Test
    void aNodeOnWhichThePodRunsNothingIsKnownAllTheSame() {
        processes.reported("n1", new Running(true, List.of(on(other, "GPU-1", 9))), NOON);
        processes.reported("n2", new Running(true, List.of()), NOON);

        assertThat(found(NOON)).containsOnlyKeys("n1", "n2");
        assertThat(found(NOON).values())
                .allSatisfy(it -> assertThat(it.of(one, EARLIER)).hasValue(List.of()));
    }

    @Test
    void theLastReportOfANodeIsAllThatIsKept() {
        processes.reported("n1", new Running(true, List.of(on(one, "GPU-1", 7))), NOON);
        processes.reported(
                "n1", new Running(true, List.of(on(one, "GPU-1", 8))), NOON.plusSeconds(60));

        assertThat(found(NOON.plusSeconds(61)))
                .containsEntry(
                        "n1",
                        new NodeReport(
                                NOON.plusSeconds(60),
                                true,
                                Map.of(one, List.of(on(one, "GPU-1", 8)))));
    }

    @Test
    void ofANodeThatHasBeenSilentNothingIsSaidAndNothingKept() {
        processes.reported("n1", new Running(true, List.of(on(one, "GPU-1", 7))), NOON);
        processes.reported(
                "n2", new Running(true, List.of(on(other, "GPU-1", 9))), NOON.plusSeconds(200));

        assertThat(found(NOON.plusSeconds(299))).containsOnlyKeys("n1", "n2");
        assertThat(found(NOON.plusSeconds(301))).containsOnlyKeys("n2");
        assertThat(processes.forgetSilent(NOON.plusSeconds(301))).isOne();
    }

    @Test
    void ofANodeThatIsNotKnownAsAWholeNobodySaysThatAPodRunsNothing() {
        processes.reported("n1", new Running(false, List.of(on(other, "GPU-1", 9))), NOON);

        assertThat(found(NOON))
                .hasEntrySatisfying("n1", it -> assertThat(it.of(one, EARLIER)).isEmpty());
        assertThat(processes.of(List.of("n1"), List.of(other), NOON))
                .hasEntrySatisfying("n1", it -> assertThat(it.of(other, EARLIER)).isPresent());
    }

    @Test
    void anOlderReportThatAnotherReplicaWritesLateChangesNothing() {
        processes.reported("n1", new Running(true, List.of(on(one, "GPU-1", 8))), NOON);
        processes.reported(
                "n1", new Running(true, List.of(on(one, "GPU-1", 7))), NOON.minusSeconds(30));

        assertThat(found(NOON))
                .hasEntrySatisfying(
                        "n1",
                        it ->
                                assertThat(it.of(one, EARLIER))
                                        .hasValue(List.of(on(one, "GPU-1", 8))));
    }

    @Test
    void ofAPodThatBeganSinceNobodySaysThatItRunsNothing() {
        processes.reported("n1", new Running(true, List.of()), NOON);

        assertThat(found(NOON))
                .hasEntrySatisfying(
                        "n1",
                        it -> {
                            assertThat(it.of(one, NOON.minusSeconds(1))).hasValue(List.of());
                            assertThat(it.of(one, NOON)).isEmpty();
                            assertThat(it.of(one, NOON.plusSeconds(1))).isEmpty();
                        });
    }
}
