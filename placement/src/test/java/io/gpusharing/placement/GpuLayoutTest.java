package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuLayoutTest {

    private static final Gpu FIRST = new Gpu("0", 100, 16384);
    private static final GpuLayout NODE =
            new GpuLayout(List.of(FIRST, new Gpu("1", 100, 16384), new Gpu("2", 100, 16384)));

    private static GpuHold part(String gpu, long cores, long memory) {
        return new GpuHold(gpu, cores, memory, false);
    }

    private static GpuHold whole(String gpu) {
        return new GpuHold(gpu, 100, 16384, true);
    }

    @Test
    void packsAFractionOnTheFullestGpuThatFitsIt() {
        GpuLayout node = NODE.without(List.of(part("1", 30, 1024), part("2", 60, 1024)));

        assertThat(node.place(List.of(new GpuAsk(1, 40, 1024, false))))
                .contains(List.of(part("2", 40, 1024)));
        assertThat(node.place(List.of(new GpuAsk(1, 50, 1024, false))))
                .contains(List.of(part("1", 50, 1024)));
    }

    @Test
    void givesAWholeGpuOnlyWhereNoPodHoldsAPartOfIt() {
        GpuLayout node = NODE.without(List.of(part("0", 1, 1), whole("2")));

        assertThat(node.place(List.of(new GpuAsk(1, 100, 0, true)))).contains(List.of(whole("1")));
        assertThat(node.place(List.of(new GpuAsk(2, 100, 0, true)))).isEmpty();
    }

    @Test
    void containersOfOnePodLeaveLessForEachOther() {
        GpuLayout node = new GpuLayout(List.of(FIRST));
        var sixty = new GpuAsk(1, 60, 1024, false);

        assertThat(node.place(List.of(sixty))).isPresent();
        assertThat(node.place(List.of(sixty, sixty))).isEmpty();
    }

    @Test
    void aPercentageIsOfTheGpuThatItIsTakenFrom() {
        var half = new GpuAsk(1, 0, 0, 50, false);

        assertThat(FIRST.without(part("0", 10, 8192)).fits(half)).isTrue();
        assertThat(FIRST.without(part("0", 10, 8193)).fits(half)).isFalse();
        assertThat(FIRST.hold(half).memory()).isEqualTo(8192);
    }

    @Test
    void withoutAnyCoresAskedForAGpuWhoseCoresAreAllGivenAwayDoesNotDo() {
        var ask = new GpuAsk(1, 0, 1024, false);

        assertThat(FIRST.without(part("0", 99, 1024)).fits(ask)).isTrue();
        assertThat(FIRST.without(whole("0")).fits(ask)).isFalse();
    }
}
