package io.gpusharing.timekeeper.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.HeapParts;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ClassPathResource;

class HeapSharesTest {

    /** From less than a service needs to far more than any has. */
    private static LongStream heaps() {
        return LongStream.of(64, 96, 126, 221, 318, 512, 1024, 2048, 8192).map(it -> it << 20);
    }

    @ParameterizedTest(name = "{0} bytes")
    @MethodSource("heaps")
    void allSharesWithTheServicesOwnAreNoMoreThanAnyHeap(long heap) {
        var parts = new HeapParts(heap);
        HeapShares shares = HeapShares.of(parts);

        long everybody =
                (long) shares.connections() * HeapParts.QUIET_CONNECTION + HeapShares.REQUESTS;
        long apiServers =
                (long) shares.connectionsOfApiServers() * HeapParts.QUIET_CONNECTION
                        + (long)
                                        (shares.threadsOfApiServers()
                                                + HeapShares.UNFINISHED_HEADS_OF_API_SERVERS)
                                * HeapShares.HEAD_OF_AN_API_SERVER;
        long reports =
                (long) shares.reports() * HeapShares.COPIES_OF_A_REPORT + shares.reportWork();
        assertThat(
                        parts.bytes(HeapShares.SERVICE)
                                + everybody
                                + apiServers
                                + reports
                                + shares.questions())
                .isLessThanOrEqualTo(heap);
        assertThat(shares.connections()).isPositive();
        assertThat(shares.connectionsOfApiServers()).isPositive();
        assertThat(shares.threadsOfApiServers()).isPositive();
    }

    /** What Java calls the most of 224 MiB: one of two halves of the survivors is never used. */
    @Test
    void theChartsLimitAllowsWhatAClusterNeeds() {
        HeapShares shares = HeapShares.of(new HeapParts((long) (220.8 * (1 << 20))));

        assertThat(shares.connections()).isEqualTo(801);
        // Each API server keeps twenty-five open.
        assertThat(shares.connectionsOfApiServers()).isEqualTo(169);
        assertThat(shares.threadsOfApiServers()).isEqualTo(16);
        assertThat(shares.reports()).isGreaterThan(6 << 20);
        // A node agent's of 100 pods on 8 GPUs takes 300 KB.
        assertThat(shares.largestReport()).isGreaterThan(450_000);
    }

    @Test
    void asManyThreadsAreCountedAsTheServerHas() {
        var settings = new YamlPropertiesFactoryBean();
        settings.setResources(new ClassPathResource("application.yaml"));

        assertThat(settings.getObject())
                .containsEntry("server.tomcat.threads.max", HeapShares.THREADS);
    }
}
