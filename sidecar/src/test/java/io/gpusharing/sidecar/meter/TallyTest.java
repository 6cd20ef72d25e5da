package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The counters of one pod on one device. */
class TallyTest {

    private final Tally tally = new Tally(Bench.POD);

    private long busy(long covered) {
        tally.busy(Basis.PROCESS, 900_000 * 100);
        tally.containerBusy("one", 600_000 * 100, 60_000 * 100);
        tally.containerBusy("other", 300_000 * 100, 80_000 * 100);
        tally.covered(covered);
        tally.settleDoubt(true);
        return tally.use(Bench.GPU, Basis.PROCESS, "").gpuMicroseconds();
    }

    @Test
    void whatWasDoubtfulIsCreditedOnceItIsKnown() {
        assertThat(busy(1_100_000)).isEqualTo(1_040_000);
    }

    @Test
    void noMoreIsCreditedThanWasMeasured() {
        assertThat(busy(1_000_000)).isEqualTo(1_000_000);
        assertThat(tally.containers)
                .extracting(one -> one.hundredths / 100)
                .containsExactly(660_000L, 340_000L);
    }

    @Test
    void nothingIsCreditedIfMoreThanWasMeasuredIsCountedAlready() {
        assertThat(busy(800_000)).isEqualTo(900_000);
    }
}
