package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.request.GpuShare;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ShareRuleTest {

    @ParameterizedTest
    @CsvSource({
        "Max, 500000, 250000, 500000",
        "Max, 250000, 500000, 500000",
        "Mean, 500000, 250000, 375000",
        "Mean, 3, 5, 4",
        "Compute, 500000, 250000, 500000",
        "Memory, 500000, 250000, 250000"
    })
    void weighsComputeAndMemory(Formula formula, long compute, long memory, long rate) {
        ShareRule rule = new ShareRule(formula, ShareRule.WHOLE_GPU);

        assertThat(rule.rate(new GpuShare(compute, memory))).isEqualTo(rate);
    }

    @ParameterizedTest
    @CsvSource({"500000, 250000, 1000000", "1000000, 500000, 2000000", "250000, 250000, 750000"})
    void theMeanOfAReferenceIsTheOriginalProjectsFactor(long compute, long memory, long rate) {
        // 50 core units and 15 blocks of a GPU with 60 counted as one there.
        ShareRule rule = new ShareRule(Formula.Mean, new GpuShare(500_000, 250_000));

        assertThat(rule.rate(new GpuShare(compute, memory))).isEqualTo(rate);
    }

    @Test
    void thousandsOfGpusDoNotOverflow() {
        ShareRule rule = new ShareRule(Formula.Mean, ShareRule.WHOLE_GPU);

        assertThat(rule.rate(GpuShare.whole(100_000))).isEqualTo(100_000_000_000L);
    }

    @ParameterizedTest
    @EnumSource(Formula.class)
    void theMaximumRateIsTenContainersOfAMillionGpusEach(Formula formula) {
        GpuShare absurd = GpuShare.whole(10_000_000);

        assertThat(new ShareRule(formula, ShareRule.WHOLE_GPU).rate(absurd))
                .isEqualTo(ShareRule.MAX_RATE);
        assertThat(new ShareRule(formula, new GpuShare(1, 1)).rate(absurd))
                .isEqualTo(ShareRule.MAX_RATE);
    }

    @Test
    void aReferenceHasBothParts() {
        assertThatThrownBy(() -> new ShareRule(Formula.Max, new GpuShare(0, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A reference share has both parts");
    }
}
