package io.gpusharing.timekeeper.metering;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.testing.Pods;
import org.junit.jupiter.api.Test;

class RateRuleTest {

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
}
