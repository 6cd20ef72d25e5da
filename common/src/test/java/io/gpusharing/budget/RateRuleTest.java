package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.RandomSeeds;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class RateRuleTest {

    private static final List<Formula> FORMULAS = List.of(Formula.values());

    /** Of 60 blocks each. */
    private static final NodeFacts TWO_GPUS = node(200, 120);

    /** 50 core units and 15 of the 60 blocks of a GPU. */
    private static final GpuShare HALF = new GpuShare(500_000, 250_000);

    @Test
    void theLargerPartOfAWholeGpuCountsByDefault() {
        assertThat(RateRule.DEFAULT.on(TWO_GPUS).rate(HALF)).isEqualTo(500_000);
    }

    @Test
    void theMeanOverFiftyAndFifteenIsTheOriginalProjectsFactor() {
        RateRule rule =
                RateRule.of(new Share(Formula.Mean, Reference.Fixed, new Fixed(50, 15)), null);

        assertThat(rule.on(TWO_GPUS).rate(HALF)).isEqualTo(1_000_000);
        assertThat(rule.on(TWO_GPUS).rate(new GpuShare(250_000, 250_000))).isEqualTo(750_000);
    }

    @Test
    void aQuotaIsTheReferenceAndWithoutOneAWholeGpuIs() {
        Share fromQuota = new Share(Formula.Compute, Reference.FromQuota, null);

        assertThat(RateRule.of(fromQuota, new Fixed(200, 120)).on(TWO_GPUS).rate(HALF))
                .isEqualTo(250_000);
        assertThat(RateRule.of(fromQuota, null).on(TWO_GPUS).rate(HALF)).isEqualTo(500_000);
    }

    @Test
    void withoutTheSizeOfTheDevicesOnlyComputeIsCompared() {
        RateRule rule =
                RateRule.of(new Share(Formula.Mean, Reference.Fixed, new Fixed(50, 15)), null);

        assertThat(rule.on(NodeFacts.UNKNOWN).rate(HALF)).isEqualTo(1_000_000);
    }

    /** 13 of 15 blocks, on whatever GPU. */
    @Test
    void aFixedReferenceIsNotRounded() {
        RateRule rule =
                RateRule.of(new Share(Formula.Memory, Reference.Fixed, new Fixed(50, 15)), null);
        NodeFacts node = node(100, 97);

        assertThat(rule.on(node).rate(held(asking(13), node))).isEqualTo(866_666);
    }

    /** A third of a GPU that costs two and a half is 833 333.3 millionths. */
    @Test
    void shareTimesWeightIsRoundedDownOnceAndHasALimit() {
        NodeFacts node = node(100, 9);
        ShareRule whole = RateRule.DEFAULT.on(node);

        assertThat(whole.rate(held(asking(3), node), 2_500_000)).isEqualTo(833_333);
        assertThat(whole.rate(GpuShare.whole(100_000), 1_000_000_000))
                .isEqualTo(ShareRule.MAX_RATE);
        assertThat(whole.rate(GpuShare.whole(1_000_000), 500_000))
                .isEqualTo(ShareRule.MAX_RATE / 2);
    }

    private static NodeFacts node(long core, long memory) {
        return new NodeFacts(
                Map.of(
                        VcudaGrammar.CORE, Quantity.of(core),
                        VcudaGrammar.MEMORY, Quantity.of(memory)),
                Map.of());
    }

    private static PodRequest asking(long memory) {
        var limits =
                Map.of(
                        VcudaGrammar.CORE, Quantity.of(1),
                        VcudaGrammar.MEMORY, Quantity.of(memory));
        return new PodRequest(List.of(new ContainerRequest("cuda", Kind.App, limits, Map.of())));
    }

    private static GpuShare held(PodRequest request, NodeFacts node) {
        return new VcudaGrammar().shareOn(request, node).share();
    }

    /** Neither a larger share nor a heavier model nor a longer allocation ever costs less. */
    @ParameterizedTest
    @RandomSeeds(500)
    void moreNeverCostsLess(long seed) {
        Random random = new Random(seed);
        RateRule rule =
                new RateRule(
                        FORMULAS.get(random.nextInt(FORMULAS.size())),
                        random.nextBoolean()
                                ? null
                                : new Fixed(1 + random.nextInt(400), 1 + random.nextInt(240)));
        long compute = random.nextLong(4_000_000);
        long memory = random.nextLong(4_000_000);
        long weight = random.nextLong(5_000_000);
        long seconds = random.nextInt(100_000);

        long less = charge(rule, compute, memory, weight, seconds);

        assertThat(charge(rule, compute + random.nextInt(1_000_000), memory, weight, seconds))
                .isGreaterThanOrEqualTo(less);
        assertThat(charge(rule, compute, memory + random.nextInt(1_000_000), weight, seconds))
                .isGreaterThanOrEqualTo(less);
        assertThat(charge(rule, compute, memory, weight + random.nextInt(1_000_000), seconds))
                .isGreaterThanOrEqualTo(less);
        assertThat(charge(rule, compute, memory, weight, seconds + random.nextInt(1_000)))
                .isGreaterThanOrEqualTo(less);
    }

    private static long charge(
            RateRule rule, long compute, long memory, long weight, long seconds) {
        return GpuTime.accrued(
                        rule.on(TWO_GPUS).rate(new GpuShare(compute, memory), weight),
                        Instant.EPOCH,
                        Instant.EPOCH.plusSeconds(seconds))
                .microGpuSeconds();
    }
}
