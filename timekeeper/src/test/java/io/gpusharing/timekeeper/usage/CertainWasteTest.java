package io.gpusharing.timekeeper.usage;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.usage.WasteReport.Line;
import io.gpusharing.timekeeper.usage.WasteReport.Question;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Waste is what was idle for certain. */
class CertainWasteTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private void measured(long busySeconds, long atMostSeconds, long coveredSeconds) {
        ledger.database
                .jdbc()
                .sql(
                        """
                        insert into usage_counter (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us,
                            at_most_us, memory_bs, covered_us, uncovered_us, sequence, first_at, last_at)
                        values ('test', ?, ?, 'Agent', 'GPU-1', 'Process', '', ?, ?, 0, ?, 0, 1, now(), now())
                        """)
                .params(
                        pod.uid(),
                        UUID.randomUUID(),
                        busySeconds * 1_000_000,
                        atMostSeconds * 1_000_000,
                        coveredSeconds * 1_000_000)
                .update();
    }

    private Line line(boolean byOwner) {
        return new WasteReport(ledger.database.rows())
                .lines(
                        new Question(TEN, TEN.plusSeconds(3_600), null, "a"),
                        byOwner,
                        ledger.clock.instant(),
                        10,
                        0)
                .getFirst();
    }

    @Test
    void whoMayHaveComputedBesideOthersWastedWhatTheGpuItselfWasIdle() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(100));
        measured(0, 45, 100);

        assertThat(line(false))
                .satisfies(it -> assertThat(it.idle()).isEqualTo(5_000_000))
                .satisfies(it -> assertThat(it.busyPercent()).isNull())
                .satisfies(it -> assertThat(it.busyAtMostPercent()).isEqualTo("90.0"))
                .satisfies(it ->
                        assertThat(it.summary())
                                .endsWith(
                                        "held 0.5 GPU for 1.7 min beside others who computed, and was busy at most 90.0 % of what was watched"));
        assertThat(line(true).idle()).isEqualTo(5_000_000);
    }

    @Test
    void whoIsKnownToHaveBeenIdleWastedAllOfThat() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(100));
        measured(5, 5, 100);

        assertThat(line(false).idle()).isEqualTo(45_000_000);
        assertThat(line(false).busyPercent()).isEqualTo("10.0");
        assertThat(line(false).busyAtMostPercent()).isNull();
    }

    @Test
    void whoComputesOnAModelThatCostsMoreIsNoIdlerForThat() {
        ledger.node(
                new NodeFacts(
                        Pods.NODE_FACTS.capacity(),
                        Map.of("nvidia.com/gpu.product", "NVIDIA-H200")));
        ledger.weights(
                new Weights(
                        1_000_000, List.of(new OfModel("NVIDIA-H200", 4_000_000, Instant.EPOCH))));
        ledger.restart();
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(100));
        measured(40, 40, 90);

        assertThat(line(false).charged()).isEqualTo(200_000_000);
        assertThat(line(false).busyPercent()).isEqualTo("88.9");
        assertThat(line(false).idle()).isEqualTo(5_000_000);
        assertThat(line(false).unwatched()).isEqualTo(5_000_000);
        assertThat(line(false).summary()).contains(" held 0.5 GPU for ");
        assertThat(line(true).unwatched()).isEqualTo(5_000_000);
    }

    @Test
    void nobodyWastesMoreThanItHeldWhateverAnAgentSays() {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(27));
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(27)));
        ledger.pass(Duration.ofSeconds(100));
        measured(10, 10, 94);

        assertThat(line(false).idle()).isEqualTo(3_500_000);
        assertThat(line(false).busyPercent()).isEqualTo("74.1");
    }
}
