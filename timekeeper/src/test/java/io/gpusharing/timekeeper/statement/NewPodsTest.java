package io.gpusharing.timekeeper.statement;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

class NewPodsTest {

    private static final int MIB = 1 << 20;

    /** Four parts of thirty-two of the heap at the chart's limit are 27.6 MiB. */
    @Test
    void theChartsLimitAllowsQuestionsOf32KiBAndALowerOneSmallerOnes() {
        assertThat(NewPods.largest((int) (27.6 * MIB))).isEqualTo(DataSize.ofKilobytes(32));
        assertThat(NewPods.largest(1 << 30)).isEqualTo(DataSize.ofKilobytes(32));
        assertThat(NewPods.largest(11 * MIB).toKilobytes()).isEqualTo(14);
    }
}
