package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import io.gpusharing.timekeeper.ledger.store.HeldByModel;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** GPU models that cost more or less than others. */
class WeighedPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String A100 = "NVIDIA-A100-SXM4-40GB";
    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private void cluster(String model, long millionths) {
        ledger.node(
                new NodeFacts(Pods.NODE_FACTS.capacity(), Map.of("nvidia.com/gpu.product", A100)));
        ledger.weights(
                new Weights(1_000_000, List.of(new OfModel(model, millionths, Instant.EPOCH))));
        ledger.restart();
    }

    @Test
    void aPodIsChargedItsShareTimesTheWeightOfItsModel() {
        cluster(A100, 2_500_000);
        ledger.onUpdate(pod);

        ledger.pass(TEN_MINUTES);

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("12.5"));
        assertThat(ledger.used("a")).isEqualTo(GpuTime.ofMinutes("12.5"));
    }

    @Test
    void aPodKeepsTheWeightThatItHadAtItsBinding() {
        cluster(A100, 2_500_000);
        ledger.onUpdate(pod);
        ledger.pass(TEN_MINUTES);

        cluster(A100, 5_000_000);
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ofMinutes("25"));
        assertThat(ledger.allocation(pod).price().weight().model()).isEqualTo(A100);
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void theWeightIsKeptWhenTheNamespaceMovesToAnotherBudget() {
        cluster(A100, 2_500_000);
        ledger.onUpdate(pod);
        ledger.pass(TEN_MINUTES);

        ledger.exist(monthly("b", ledger.clock.instant(), "1000", "team-a"));
        ledger.pass(TEN_MINUTES);

        assertThat(ledger.used("b")).isEqualTo(GpuTime.ofMinutes("12.5"));
    }

    @Test
    void aModelWithoutAWeightIsChargedTheDefaultAndCounted() {
        cluster("Tesla-T4", 400_000);

        ledger.onUpdate(pod);

        assertThat(ledger.allocation(pod).price().weight().known()).isFalse();
        assertThat(
                        ledger.registry
                                .counter("gpusharing.ledger.pods.unweighed", "model", A100)
                                .count())
                .isOne();
    }

    @Test
    void aRateThatIsNotShareTimesWeightCannotEvenBeStored() {
        ledger.onUpdate(pod);

        assertThat(
                        org.assertj.core.api.Assertions.catchThrowable(() ->
                                ledger.database
                                        .jdbc()
                                        .sql("update pod_allocation set weight = 2000000")
                                        .update()))
                .hasMessageContaining("pod_allocation_weighed");
    }

    @Test
    void howManyGpusOfEachModelAreHeldIsShown() {
        ledger.onUpdate(Pods.waiting("team-a", 200, 0).boundAt(TEN));
        cluster(A100, 2_500_000);
        ledger.onUpdate(pod);
        ledger.onUpdate(Pods.waiting("nobody", 10, 45).boundAt(TEN));
        Pods gone = Pods.waiting("team-a", 100, 0).boundAt(TEN);
        ledger.onUpdate(gone);
        var held = new HeldByModel(ledger.database.rows(), ledger.registry, ledger.clock);

        held.work(ledger.clock.instant());
        assertThat(held("")).isEqualTo(2);
        assertThat(held(A100)).isEqualTo(0.5 + 0.75 + 1);

        ledger.onUpdate(gone.finishedAt(TEN.plusSeconds(60)));
        held.work(ledger.clock.instant());
        assertThat(held(A100)).isEqualTo(0.5 + 0.75);
    }

    @Test
    void mistakesInTheLabelsOfNodesMakeNoMoreThanFiftySeriesOfModels() {
        for (int i = 0; i < 60; i++) {
            ledger.node(
                    new NodeFacts(
                            Pods.NODE_FACTS.capacity(),
                            Map.of("nvidia.com/gpu.product", "model-" + i)));
            ledger.restart();
            ledger.onUpdate(Pods.waiting("team-a", 100, 0).boundAt(TEN));
        }

        new HeldByModel(ledger.database.rows(), ledger.registry, ledger.clock)
                .work(ledger.clock.instant());

        assertThat(ledger.registry.find("gpusharing.model.held").gauges()).hasSize(51);
        assertThat(held("others")).isEqualTo(10);
    }

    private double held(String model) {
        return ledger.registry.get("gpusharing.model.held").tag("model", model).gauge().value();
    }
}
