package io.gpusharing.timekeeper.ledger;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.metering.Weights;
import io.gpusharing.timekeeper.metering.Weights.OfModel;
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

    private final Books books = new Books(TEN, monthly("a", TEN, "1000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);

    private void cluster(String model, long millionths) {
        books.node(
                new NodeFacts(Pods.NODE_FACTS.capacity(), Map.of("nvidia.com/gpu.product", A100)));
        books.weights(
                new Weights(1_000_000, List.of(new OfModel(model, millionths, Instant.EPOCH))));
        books.restart();
    }

    @Test
    void aPodIsChargedItsShareTimesTheWeightOfItsModel() {
        cluster(A100, 2_500_000);
        books.told(pod);

        books.pass(TEN_MINUTES);

        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("12.5"));
        assertThat(books.used("a")).isEqualTo(GpuTime.ofMinutes("12.5"));
    }

    @Test
    void aPodKeepsTheWeightByWhichItWasBound() {
        cluster(A100, 2_500_000);
        books.told(pod);
        books.pass(TEN_MINUTES);

        cluster(A100, 5_000_000);
        books.pass(TEN_MINUTES);

        assertThat(books.charged(pod)).isEqualTo(GpuTime.ofMinutes("25"));
        assertThat(books.stay(pod).price().weight().model()).isEqualTo(A100);
        assertThat(books.differences()).isEmpty();
    }

    @Test
    void theWeightStaysWhenTheNamespaceMovesToAnotherBudget() {
        cluster(A100, 2_500_000);
        books.told(pod);
        books.pass(TEN_MINUTES);

        books.exist(monthly("b", books.clock.instant(), "1000", "team-a"));
        books.pass(TEN_MINUTES);

        assertThat(books.used("b")).isEqualTo(GpuTime.ofMinutes("12.5"));
    }

    @Test
    void aModelThatNobodyHasWeighedIsChargedTheUsualAndCounted() {
        cluster("Tesla-T4", 400_000);

        books.told(pod);

        assertThat(books.stay(pod).price().weight().known()).isFalse();
        assertThat(
                        books.registry
                                .counter("gpusharing.ledger.pods.unweighed", "model", A100)
                                .count())
                .isOne();
    }

    @Test
    void aRateThatIsNotShareTimesWeightCannotEvenBeStored() {
        books.told(pod);

        assertThat(
                        org.assertj.core.api.Assertions.catchThrowable(() ->
                                books.database
                                        .jdbc()
                                        .sql("update pod_stay set weight = 2000000")
                                        .update()))
                .hasMessageContaining("pod_stay_weighed");
    }

    @Test
    void howManyGpusOfEachModelAreHeldIsShown() {
        books.told(Pods.waiting("team-a", 200, 0).boundAt(TEN));
        cluster(A100, 2_500_000);
        books.told(pod);
        books.told(Pods.waiting("nobody", 10, 45).boundAt(TEN));
        Pods gone = Pods.waiting("team-a", 100, 0).boundAt(TEN);
        books.told(gone);
        var held = new HeldByModel(books.database.jdbc(), Books.CLUSTER, books.registry);

        held.look();
        assertThat(held("")).isEqualTo(2);
        assertThat(held(A100)).isEqualTo(0.5 + 0.75 + 1);

        books.told(gone.finishedAt(TEN.plusSeconds(60)));
        held.look();
        assertThat(held(A100)).isEqualTo(0.5 + 0.75);
    }

    @Test
    void mistakesInTheLabelsOfNodesMakeNoMoreThanFiftySeriesOfModels() {
        for (int i = 0; i < 60; i++) {
            books.node(
                    new NodeFacts(
                            Pods.NODE_FACTS.capacity(),
                            Map.of("nvidia.com/gpu.product", "model-" + i)));
            books.restart();
            books.told(Pods.waiting("team-a", 100, 0).boundAt(TEN));
        }

        new HeldByModel(books.database.jdbc(), Books.CLUSTER, books.registry).look();

        assertThat(books.registry.find("gpusharing.model.held").gauges()).hasSize(51);
        assertThat(held("others")).isEqualTo(10);
    }

    private double held(String model) {
        return books.registry.get("gpusharing.model.held").tag("model", model).gauge().value();
    }
}
