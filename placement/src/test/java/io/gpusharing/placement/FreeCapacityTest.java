package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FreeCapacityTest {

    private static final FreeCapacity EMPTY =
            new FreeCapacity(
                    cpus(8), new GpuLayout(List.of(new Gpu("0", 100, 60), new Gpu("1", 100, 60))));

    private static Amounts cpus(long count) {
        return new Amounts(Map.of("cpu", BigDecimal.valueOf(count)));
    }

    private static PodAsk asks(long cpus, long cores) {
        return new PodAsk(cpus(cpus), List.of(new GpuAsk(1, cores, 10, false)), List.of());
    }

    private static PodHold holds(long cpus, String gpu, long cores) {
        return new PodHold(cpus(cpus), List.of(new GpuHold(gpu, cores, 10, false)), List.of());
    }

    @Test
    void aPodFitsWhereBothItsSumsAndAGpuAreFree() {
        FreeCapacity free = EMPTY.beside(holds(2, "0", 60)).beside(holds(2, "1", 60));

        assertThat(free.fits(asks(4, 40))).isTrue();
        assertThat(free.fits(asks(5, 40))).as("too few processors").isFalse();
        assertThat(free.fits(asks(4, 50))).as("no GPU has so much in one piece").isFalse();
    }

    @Test
    void nodeTotalsAloneHideThatNoSingleGpuHasThatMuch() {
        FreeCapacity free = EMPTY.beside(holds(2, "0", 60)).beside(holds(2, "1", 60));

        assertThat(free.totals().fits(asks(4, 50))).isTrue();
    }

    @Test
    void aPodWouldFitIfTheRightOneWent() {
        PodHold first = holds(2, "0", 60);
        PodHold second = holds(2, "1", 90);

        assertThat(EMPTY.beside(first).beside(second).fits(asks(1, 80))).isFalse();
        assertThat(EMPTY.beside(first).fits(asks(1, 80))).isTrue();
    }

    @Test
    void nodeTotalsDecideWhereAPodDoesNotSayWhichGpuItHolds() {
        FreeCapacity free =
                EMPTY.beside(new PodHold(cpus(2), null, List.of())).beside(holds(2, "0", 100));

        assertThat(free.gpus()).isNull();
        assertThat(free.fits(asks(4, 100))).isTrue();
        assertThat(free.fits(asks(5, 1))).isFalse();
    }

    @Test
    void reservedCapacityIsTakenWhereThePodWouldBePlaced() {
        FreeCapacity free = EMPTY.beside(holds(0, "1", 30)).after(asks(1, 50));

        assertThat(free.fits(asks(1, 100))).isTrue();
        assertThat(free.fits(asks(1, 21)) && !free.after(asks(1, 100)).fits(asks(1, 21))).isTrue();
    }

    @Test
    void countsAPodAsTheSchedulerDoes() {
        PodRequest pod =
                new PodRequest(
                        List.of(
                                container(Kind.App, Map.of("cpu", "2"), Map.of()),
                                container(Kind.Init, Map.of("cpu", "3"), Map.of()),
                                container(
                                        Kind.NativeSidecar,
                                        Map.of("cpu", "2"),
                                        Map.of("cpu", "1"))));

        assertThat(Amounts.ofPod(pod, Amounts.NONE, cpus(1)))
                .isEqualTo(
                        new Amounts(Map.of("cpu", BigDecimal.valueOf(4), "pods", BigDecimal.ONE)));
        assertThat(Amounts.ofPod(pod, cpus(7), Amounts.NONE).of("cpu")).isEqualByComparingTo("7");
    }

    private static ContainerRequest container(
            Kind kind, Map<String, String> limits, Map<String, String> requests) {
        return new ContainerRequest("c", kind, quantities(limits), quantities(requests));
    }

    private static Map<String, Quantity> quantities(Map<String, String> amounts) {
        return amounts.entrySet().stream()
                .collect(
                        java.util.stream.Collectors.toMap(
                                Map.Entry::getKey, it -> Quantity.parse(it.getValue())));
    }
}
