package io.gpusharing.scheduler.victims;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.victims.Room.Part;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A node of eight processors and two GPUs that another provider hands out. */
class RoomTest {

    private static final FreeCapacity EMPTY =
            new FreeCapacity(
                    cpus(8), new GpuLayout(List.of(new Gpu("0", 100, 60), new Gpu("1", 100, 60))));

    private static final Part SOMEWHERE = new Part(0, cpus(2), () -> null);

    private static Amounts cpus(long count) {
        return new Amounts(Map.of("cpu", BigDecimal.valueOf(count)));
    }

    private static PodAsk asks(long cpus, long cores) {
        return new PodAsk(cpus(cpus), List.of(new GpuAsk(1, cores, 10, false)), List.of());
    }

    private static Part part(int gang, String gpu, long cores) {
        return new Part(gang, cpus(2), () -> List.of(new GpuHold(gpu, cores, 10, false)));
    }

    private static Room room(PodAsk ask, Part... parts) {
        return new Room("n", ask, EMPTY, List.of(parts), cpus(1), List.of());
    }

    private static BitSet gangs(long... gangs) {
        var gone = new BitSet();
        for (long gang : gangs) {
            gone.set((int) gang);
        }
        return gone;
    }

    @Test
    void aPodFitsWhereBothItsSumsAndAGpuAreFree() {
        Part[] parts = {part(Room.STAYS, "0", 60), part(0, "1", 60)};

        assertThat(room(asks(4, 40), parts).fits(gangs())).isTrue();
        assertThat(room(asks(5, 40), parts).fits(gangs())).as("too few processors").isFalse();
        Room inOnePiece = room(asks(4, 50), parts);
        assertThat(inOnePiece.fits(gangs())).as("no GPU has so much in one piece").isFalse();
        assertThat(inOnePiece.fitsIntoSums(gangs())).as("sums hide it").isTrue();
    }

    @Test
    void aPodWouldFitIfTheRightOneWent() {
        Room room = room(asks(1, 80), part(0, "0", 60), part(1, "1", 90));

        assertThat(room.fits(gangs())).isFalse();
        assertThat(room.fits(gangs(0))).isTrue();
        assertThat(room.fits(gangs(1))).isTrue();
    }

    @Test
    void sumsDecideAsLongAsSomebodyIsThereWhoDoesNotSayWhichGpuItHolds() {
        Part beside = part(1, "0", 100);

        assertThat(room(asks(4, 100), SOMEWHERE, beside).fits(gangs())).isTrue();
        assertThat(room(asks(5, 1), SOMEWHERE, beside).fits(gangs())).isFalse();
        Room mixed = room(asks(4, 100), SOMEWHERE, beside, part(2, "1", 10));
        assertThat(mixed.fitsOnGpus(gangs())).isTrue();
        assertThat(mixed.fitsOnGpus(gangs(0))).isFalse();
        assertThat(mixed.isMonotone()).isFalse();
    }

    @Test
    void whoeverRoomIsMadeForCountsOnceSomebodyGoes() {
        Room room = room(asks(6, 10), part(0, "0", 10));

        assertThat(room.fits(gangs())).isTrue();
        assertThat(room(asks(7, 10), part(0, "0", 10)).fits(gangs(0))).isTrue();
        assertThat(room(asks(8, 10), part(0, "0", 10)).fits(gangs(0))).isFalse();
    }

    @Test
    void itIsPlacedWhereWhoeverElseComesLeavesRoom() {
        var room =
                new Room(
                        "n",
                        asks(1, 80),
                        EMPTY,
                        List.of(part(0, "0", 60), part(1, "1", 30)),
                        Amounts.NONE,
                        List.of(asks(1, 50)));

        assertThat(room.fits(gangs(1))).as("the other one is put on GPU 1").isFalse();
        assertThat(room.fits(gangs(0))).isTrue();
    }
}
