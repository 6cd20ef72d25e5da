package io.gpusharing.timekeeper.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.ShareRule;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class RateRuleTest {

    private static final List<Formula> FORMULAS = List.of(Formula.values());

    /** 50 core units and 15 of the 60 blocks of a GPU. */
    private static final GpuShare HALF = new GpuShare(500_000, 250_000);

    @Test
    void theLargerPartOfAWholeGpuCountsByDefault() {
        assertThat(RateRule.DEFAULT.on(Pods.NODE_FACTS).rate(HALF)).isEqualTo(500_000);
    }

    @Test
    void theMeanOverFiftyAndFifteenIsTheOriginalProjectsFactor() {
        RateRule rule =
                RateRule.of(new Share(Formula.Mean, Reference.Fixed, new Fixed(50, 15)), null);

        assertThat(rule.on(Pods.NODE_FACTS).rate(HALF)).isEqualTo(1_000_000);
        assertThat(rule.on(Pods.NODE_FACTS).rate(new GpuShare(250_000, 250_000)))
                .isEqualTo(750_000);
    }

    @Test
    void aQuotaIsTheReferenceAndWithoutOneAWholeGpuIs() {
        Share fromQuota = new Share(Formula.Compute, Reference.FromQuota, null);

        assertThat(RateRule.of(fromQuota, new Fixed(200, 120)).on(Pods.NODE_FACTS).rate(HALF))
                .isEqualTo(250_000);
        assertThat(RateRule.of(fromQuota, null).on(Pods.NODE_FACTS).rate(HALF)).isEqualTo(500_000);
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
        var node =
                new NodeFacts(
                        Map.of(
                                VcudaGrammar.CORE, Quantity.of(100),
                                VcudaGrammar.MEMORY, Quantity.of(97)),
                        Map.of());

        assertThat(rule.on(node).rate(held(Pods.waiting("team-a", 1, 13), node)))
                .isEqualTo(866_666);
    }

    /** A third of a GPU that costs two and a half is 833 333.3 millionths. */
    @Test
    void shareTimesWeightIsRoundedDownOnceAndHasALimit() {
        var node =
                new NodeFacts(
                        Map.of(
                                VcudaGrammar.CORE, Quantity.of(100),
                                VcudaGrammar.MEMORY, Quantity.of(9)),
                        Map.of());
        ShareRule whole = RateRule.DEFAULT.on(node);

        assertThat(whole.rate(held(Pods.waiting("team-a", 1, 3), node), 2_500_000))
                .isEqualTo(833_333);
        assertThat(whole.rate(GpuShare.whole(100_000), 1_000_000_000))
                .isEqualTo(ShareRule.MAX_RATE);
        assertThat(whole.rate(GpuShare.whole(1_000_000), 500_000))
                .isEqualTo(ShareRule.MAX_RATE / 2);
    }

    private static GpuShare held(Pods pod, NodeFacts node) {
        var grammars = new RequestGrammars(List.of(new VcudaGrammar()));
        return pod.facts().held(node, grammars).orElseThrow().share();
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
                        rule.on(Pods.NODE_FACTS).rate(new GpuShare(compute, memory), weight),
                        Instant.EPOCH,
                        Instant.EPOCH.plusSeconds(seconds))
                .microGpuSeconds();
    }
}
