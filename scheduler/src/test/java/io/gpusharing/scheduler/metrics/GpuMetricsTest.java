package io.gpusharing.scheduler.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GpuMetricsTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final GpuMetrics metrics = new GpuMetrics(registry, gpus);

    private void share(String name, int count) {
        gpus.describe(
                new SharedNode(
                        name,
                        IntStream.range(0, count)
                                .mapToObj(i -> new Gpu(name + "-" + i, 100, 1_000))
                                .toList(),
                        List.of(new Gpu(name + "-sick", 100, 1_000)),
                        Map.of(),
                        Map.of(),
                        "NVIDIA H200",
                        false,
                        Set.of()));
    }

    private void bind(String uid, GpuAsk ask, String gpu) {
        gpus.bind(
                new GpuPod(
                        uid,
                        "team-a",
                        uid,
                        List.of(new ContainerAsk("c", Kind.App, ask, Set.of(gpu)))),
                gpu.substring(0, 1));
    }

    private double gauge(String name, String... tags) {
        return registry.get("gpusharing.scheduler." + name).tags(tags).gauge().value();
    }

    @Test
    void theLargestPieceOfANodeIsThatWhereProcessorsAndMemoryAreFree() {
        share("a", 2);
        bind("most of the memory", new GpuAsk(1, 10, 700, false), "a-0");
        bind("half", new GpuAsk(1, 50, 100, false), "a-1");
        metrics.look();

        assertThat(gauge("largest.free", "node", "a", "model", "NVIDIA H200")).isEqualTo(0.5);

        gpus.remove("a");
        metrics.look();
        assertThat(registry.find("gpusharing.scheduler.largest.free").gauges()).isEmpty();
    }

    @Test
    void everyGpuIsCountedOnce() {
        share("a", 3);
        share("b", 1);
        bind("part", new GpuAsk(1, 10, 100, false), "a-0");
        bind("whole", new GpuAsk(1, 100, 0, true), "a-1");
        metrics.look();

        assertThat(gauge("gpus", "mode", "idle")).isEqualTo(2);
        assertThat(gauge("gpus", "mode", "shared")).isEqualTo(1);
        assertThat(gauge("gpus", "mode", "whole")).isEqualTo(1);
        assertThat(gauge("gpus", "mode", "unhealthy")).isEqualTo(2);
    }

    @Test
    void roomThatIsKeptEndsByBeingTakenOrDroppedOrLate() {
        share("a", 1);
        for (String pod : List.of("bound", "gone", "late", "waiting")) {
            gpus.keep(
                    new KeptRoom(
                            pod,
                            0,
                            "a",
                            List.of(new GpuHold("a-0", 10, 10, false)),
                            Set.of(),
                            NOON.plusSeconds(pod.equals("late") ? 1 : 100)));
        }
        bind("bound", new GpuAsk(1, 10, 10, false), "a-0");
        gpus.forget("gone");
        assertThat(gpus.wakeable(1, NOON.plusSeconds(2))).isEmpty();

        assertThat(gauge("reservations")).isEqualTo(1);
        for (String outcome : List.of("taken", "dropped", "late")) {
            assertThat(
                            registry.get("gpusharing.scheduler.reservations.ended")
                                    .tag("outcome", outcome)
                                    .functionCounter()
                                    .count())
                    .as(outcome)
                    .isEqualTo(1);
        }
    }
}
