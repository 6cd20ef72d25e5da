package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FreeCapacityTest {

    private static Amounts cpus(long count) {
        return new Amounts(Map.of("cpu", BigDecimal.valueOf(count)));
    }

    private static PodAsk asks(long cpus, long cores) {
        return new PodAsk(cpus(cpus), List.of(new GpuAsk(1, cores, 10, false)), List.of());
    }

    @Test
    void reservedCapacityIsTakenWhereThePodWouldBePlaced() {
        FreeCapacity free =
                new FreeCapacity(
                                cpus(8),
                                new GpuLayout(List.of(new Gpu("0", 100, 60), new Gpu("1", 70, 50))))
                        .after(asks(1, 50));

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
