package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import io.gpusharing.timekeeper.ledger.store.HeldByModel;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods on a node whose GPUs are not alike: a T4 of 16 GiB and an A100 of 80. */
class PlacedPodsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration HUNDRED_SECONDS = Duration.ofSeconds(100);
    private static final NodeFacts MIXED =
            new NodeFacts(
                    Map.of(
                            VcudaGrammar.CORE, Quantity.of(200),
                            VcudaGrammar.MEMORY, Quantity.of(384)),
                    Map.of("nvidia.com/gpu.product", "Tesla-T4"));
    private static final Map<String, PhysicalGpu> GPUS =
            Map.of(
                    "small", PhysicalGpu.of("Tesla T4", 16_384L),
                    "large", PhysicalGpu.of("NVIDIA A100 80GB", 81_920L));
    private static final Weights WEIGHTS =
            new Weights(
                    1_000_000,
                    List.of(
                            new OfModel("Tesla-T4", 1_000_000, Instant.EPOCH),
                            new OfModel("NVIDIA-A100-80GB", 3_000_000, Instant.EPOCH)));

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "1000", "team-a"));

    @BeforeEach
    void aMixedNode() {
        ledger.node(MIXED);
        ledger.gpus(GPUS);
        ledger.restart();
    }

    private static Pods pod(long core, long memory) {
        return Pods.waiting("team-a", core, memory).boundAt(TEN);
    }

    /** What it was charged in a hundred seconds, in micro-GPU-seconds. */
    private long charged(Pods pod) {
        ledger.onUpdate(pod);
        ledger.pass(HUNDRED_SECONDS);
        return ledger.charged(pod).microGpuSeconds();
    }

    @Test
    void aPartOfMemoryIsAPartOfTheGpuThatThePodIsOn() {
        assertThat(charged(pod(10, 60).placedOn("large"))).isEqualTo(18_750_000);
    }

    @Test
    void theSameIsMoreOfASmallerGpu() {
        assertThat(charged(pod(10, 60).placedOn("small"))).isEqualTo(93_750_000);
    }

    @Test
    void whereNobodySaysWhichGpuItIsAllOfTheNodeAreTakenToBeAlike() {
        assertThat(charged(pod(10, 60))).isEqualTo(31_250_000);
    }

    /** Nobody could say what the node's GPUs are when these pods began. */
    private void unread() {
        ledger.gpus(Map.of());
        ledger.restart();
    }

    @Test
    void onceTheGpuCanBeReadThePodHasCostWhatItDoesAllAlong() {
        ledger.weights(WEIGHTS);
        unread();
        Pods pod = pod(10, 60).placedOn("large");
        assertThat(charged(pod)).isEqualTo(31_250_000);
        assertThat(ledger.used("a")).isEqualTo(new GpuTime(31_250_000));

        ledger.learned(GPUS);
        ledger.pass(Duration.ZERO);

        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(56_250_000));
        assertThat(ledger.used("a")).isEqualTo(new GpuTime(56_250_000));
        assertThat(ledger.allocation(pod).price().weight().model()).isEqualTo("NVIDIA-A100-80GB");
        ledger.restart();
        ledger.pass(HUNDRED_SECONDS);
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(200)));
        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(112_500_000));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whatWasPostedByThenStays() {
        unread();
        Pods pod = pod(10, 60).placedOn("large");
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(3_630));

        ledger.learned(GPUS);
        ledger.pass(Duration.ofHours(1));

        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(3_600 * 312_500L + 3_630 * 187_500L));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whatCostNothingByThenCostsNothingToItsEnd() {
        ledger.weights(
                new Weights(
                        1_000_000,
                        List.of(
                                new OfModel("Tesla-T4", 0, Instant.EPOCH),
                                new OfModel("NVIDIA-A100-80GB", 3_000_000, Instant.EPOCH))));
        unread();
        Pods pod = pod(10, 60).placedOn("large");
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofSeconds(3_630));

        ledger.learned(GPUS);
        ledger.pass(Duration.ofHours(1));

        assertThat(ledger.charged(pod)).isEqualTo(GpuTime.ZERO);
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void whereMeasuredUseCountsItIsSettledByThenAndComparedWithThatFromThenOn() {
        ledger.exist(monthly("a", TEN, "1000", "team-a").byUse());
        unread();
        Pods pod = pod(10, 60).placedOn("large");
        ledger.onUpdate(pod);
        ledger.measured(pod, 50, 1_000);
        ledger.pass(Duration.ofSeconds(1_000));

        ledger.learned(GPUS);
        ledger.pass(Duration.ZERO);
        ledger.measured(pod, 150, 2_000);
        ledger.pass(Duration.ofSeconds(1_000));
        ledger.onUpdate(pod.finishedAt(TEN.plusSeconds(2_000)));
        ledger.pass(Duration.ofMinutes(50));

        // Half of the time its tenth of the processors was busy, then all of it; a settlement
        // leaves
        // what is less than a micro-GPU.
        assertThat(ledger.charged(pod).microGpuSeconds())
                .isCloseTo(500 * 312_500L + 1_000 * 187_500L, within(1_000L));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aTimekeeperThatStartsLaterMendsItAsWell() {
        unread();
        Pods pod = pod(10, 60).placedOn("large");
        assertThat(charged(pod)).isEqualTo(31_250_000);

        ledger.gpus(GPUS);
        ledger.restart();

        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(18_750_000));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aPlacementThatNamesAnotherGpuThanTheNodesSaysNothing() {
        assertThat(charged(pod(10, 60).placedOn("gone"))).isEqualTo(31_250_000);
    }

    @Test
    void thePlacementOfAnotherPodSaysNothing() {
        Pods other = pod(10, 60).placedOn("large");
        Pods copied =
                new Pods(
                        pod(10, 60).uid(),
                        "team-a",
                        10,
                        60,
                        TEN,
                        false,
                        null,
                        true,
                        null,
                        null,
                        TEN,
                        other.claimed(),
                        other.placement());

        assertThat(charged(copied)).isEqualTo(31_250_000);
    }

    @Test
    void theModelIsThatOfTheGpuAndNotOfTheNodesLabel() {
        ledger.weights(WEIGHTS);
        ledger.restart();
        Pods pod = pod(50, 200).placedOn("large");

        assertThat(charged(pod)).isEqualTo(187_500_000);
        // Bound when the other was, and seen now.
        assertThat(charged(pod(50, 32).placedOn("small"))).isEqualTo(100_000_000);
        assertThat(ledger.allocation(pod).price().weight().model()).isEqualTo("NVIDIA-A100-80GB");
        assertThat(ledger.differences()).isEmpty();
        new HeldByModel(ledger.database.rows(), ledger.registry, ledger.clock)
                .work(ledger.clock.instant());
        assertThat(held("NVIDIA-A100-80GB")).isEqualTo(0.625);
        assertThat(held("Tesla-T4")).isEqualTo(0.5);
    }

    private double held(String model) {
        return ledger.registry.get("gpusharing.model.held").tag("model", model).gauge().value();
    }

    @Test
    void gpusOfSeveralModelsCostTheirMean() {
        ledger.weights(WEIGHTS);
        ledger.restart();

        assertThat(charged(pod(200, 0).placedOn("small", "large"))).isEqualTo(400_000_000);
    }

    @Test
    void aBudgetsReferenceIsComparedOnTheSameGpuAlsoWhenTheTermsChangeLater() {
        Pods pod = pod(10, 60).placedOn("large");
        assertThat(charged(pod)).isEqualTo(18_750_000);

        // Ten hundredths and 60 blocks count as one: so much is what it has.
        ledger.exist(monthly("a", TEN, "1000", "team-a").fixed(10, 60).ofGeneration(2));
        ledger.pass(HUNDRED_SECONDS);
        ledger.restart();
        ledger.pass(HUNDRED_SECONDS);

        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(18_750_000 + 200_000_000));
        assertThat(ledger.differences()).isEmpty();
    }

    @Test
    void aLabelThatChangesItsMindMovesNothing() {
        ledger.weights(WEIGHTS);
        ledger.restart();
        Pods pod = pod(50, 200).placedOn("large");
        assertThat(charged(pod)).isEqualTo(187_500_000);

        ledger.node(
                new NodeFacts(
                        MIXED.capacity(), Map.of("nvidia.com/gpu.product", "NVIDIA-A100-80GB")));
        ledger.restart();
        ledger.pass(HUNDRED_SECONDS);

        assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(375_000_000));
    }
}
