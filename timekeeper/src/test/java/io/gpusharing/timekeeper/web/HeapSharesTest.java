package io.gpusharing.timekeeper.web;

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
    void whatComesFromOutsideLeavesAQuarterOfAnyHeap(long heap) {
        HeapShares shares = HeapShares.of(new HeapParts(heap));

        long given =
                (long) shares.connections() * HeapParts.WAITING_CONNECTION
                        + (long) shares.connectionsOfApiServers()
                                * HeapShares.CONNECTION_OF_AN_API_SERVER
                        + (long) shares.reports() * HeapShares.COPIES_OF_A_REPORT
                        + shares.reportWork();
        assertThat(given).isLessThan(heap * 3 / 4);
    }

    /** What Java calls the most of 224 MiB: one of two halves of the survivors is never used. */
    @Test
    void theChartsLimitAllowsAThousandMeters() {
        HeapShares shares = HeapShares.of(new HeapParts((long) (220.8 * (1 << 20))));

        assertThat(shares.connections()).isGreaterThan(1_000);
        assertThat(shares.connectionsOfApiServers()).isGreaterThan(25);
        assertThat(shares.reports()).isGreaterThan(6 << 20);
    }
}
