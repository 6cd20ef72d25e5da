package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.usage.Basis;
import org.junit.jupiter.api.Test;

/** The counters of one pod on one device. */
class PodCountersTest {

    private final PodCounters counters = new PodCounters(Bench.POD);

    private long busy(long covered) {
        counters.busy(Basis.PROCESS, 900_000 * 100);
        counters.containerBusy("one", 600_000 * 100, 60_000 * 100);
        counters.containerBusy("other", 300_000 * 100, 80_000 * 100);
        counters.covered(covered);
        counters.settleDoubt(true);
        return counters.use(Bench.GPU, Basis.PROCESS, "").gpuMicroseconds();
    }

    @Test
    void uncertainUseIsCreditedOnceItIsCertain() {
        assertThat(busy(1_100_000)).isEqualTo(1_040_000);
    }

    @Test
    void noMoreIsCreditedThanWasMeasured() {
        assertThat(busy(1_000_000)).isEqualTo(1_000_000);
        assertThat(counters.containers)
                .extracting(one -> one.hundredths / 100)
                .containsExactly(660_000L, 340_000L);
    }

    @Test
    void nothingIsCreditedIfMoreThanWasMeasuredIsCountedAlready() {
        assertThat(busy(800_000)).isEqualTo(900_000);
    }
}
