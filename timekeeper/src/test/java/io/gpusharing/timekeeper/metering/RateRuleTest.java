package io.gpusharing.timekeeper.metering;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class RateRuleTest {

    private static final List<Formula> FORMULAS = List.of(Formula.values());

    /** 50 core units and 15 of the 60 blocks of a GPU. */
    private static final BoundShare HALF = new BoundShare(new GpuShare(500_000, 250_000), true);

    @Test
    void theLargerPartOfAWholeGpuCountsByDefault() {
        assertThat(RateRule.DEFAULT.rate(HALF, Pods.NODE_FACTS)).isEqualTo(500_000);
    }

    @Test
    void theMeanOverFiftyAndFifteenIsTheOriginalProjectsFactor() {
        RateRule rule =
                RateRule.of(new Share(Formula.Mean, Reference.Fixed, new Fixed(50, 15)), null);

        assertThat(rule.rate(HALF, Pods.NODE_FACTS)).isEqualTo(1_000_000);
        assertThat(rule.rate(new BoundShare(new GpuShare(250_000, 250_000), true), Pods.NODE_FACTS))
                .isEqualTo(750_000);
    }

    @Test
    void aQuotaIsTheReferenceAndWithoutOneAWholeGpuIs() {
        Share fromQuota = new Share(Formula.Compute, Reference.FromQuota, null);

        assertThat(RateRule.of(fromQuota, new Fixed(200, 120)).rate(HALF, Pods.NODE_FACTS))
                .isEqualTo(250_000);
        assertThat(RateRule.of(fromQuota, null).rate(HALF, Pods.NODE_FACTS)).isEqualTo(500_000);
    }

    @Test
    void withoutTheSizeOfTheDevicesOnlyComputeIsCompared() {
        RateRule rule =
                RateRule.of(new Share(Formula.Mean, Reference.Fixed, new Fixed(50, 15)), null);

        assertThat(rule.rate(HALF, NodeFacts.UNKNOWN)).isEqualTo(1_000_000);
    }

    /** Neither a larger share nor a heavier model nor a longer stay ever costs less. */
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
        long share =
                rule.rate(new BoundShare(new GpuShare(compute, memory), true), Pods.NODE_FACTS);
        return GpuTime.accrued(
                        new Weight("any", weight, true).of(share),
                        Instant.EPOCH,
                        Instant.EPOCH.plusSeconds(seconds))
                .microGpuSeconds();
    }
}
