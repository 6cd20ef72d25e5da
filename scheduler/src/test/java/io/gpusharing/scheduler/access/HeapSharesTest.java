package io.gpusharing.scheduler.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.HeapParts;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HeapSharesTest {

    /** From less than a service needs to far more than any has. */
    private static LongStream heaps() {
        return LongStream.of(64, 96, 126, 221, 318, 512, 1024, 2048, 8192).map(it -> it << 20);
    }

    @ParameterizedTest(name = "{0} bytes")
    @MethodSource("heaps")
    void whatComesFromOutsideLeavesMoreThanHalfOfAnyHeap(long heap) {
        HeapShares shares = HeapShares.of(new HeapParts(heap));

        long given = (long) shares.connections() * HeapParts.CONNECTION + shares.questions();
        assertThat(given).isLessThan(heap / 2);
    }

    /** What Java calls the most of 320 MiB: one of two halves of the survivors is never used. */
    @Test
    void theChartsLimitAllowsSomeFiveHundredConnections() {
        assertThat(HeapShares.of(new HeapParts((long) (318.4 * (1 << 20)))).connections())
                .isEqualTo(509);
    }

    /** A pod has 1.5 MiB at most, and the names of 5 000 nodes take 0.3. */
    @Test
    void theChartsLimitAllowsTheLargestRealQuestion() {
        HeapShares shares = HeapShares.of(new HeapParts((long) (318.4 * (1 << 20))));

        assertThat(shares.questions() / AccessFilter.WEIGHT).isGreaterThan(2 << 20);
    }
}
