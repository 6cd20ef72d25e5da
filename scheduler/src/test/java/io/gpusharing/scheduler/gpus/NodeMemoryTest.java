package io.gpusharing.scheduler.gpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.NodeMemory.GpuMemory;
import io.gpusharing.scheduler.gpus.NodeMemory.PodMemory;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeMemoryTest {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));

    private static GpuPod pod(String name, Set<String> on) {
        return new GpuPod(
                name,
                "team-a",
                name,
                List.of(new ContainerAsk("c", Kind.App, new GpuAsk(1, 50, 1_536, false), on)));
    }

    private void share(Map<String, List<GpuHold>> granted) {
        gpus.describe(
                new SharedNode(
                        "gpu-node-1",
                        List.of(new Gpu("GPU-a", 100, 15_360)),
                        List.of(new Gpu("GPU-b", 100, 15_360)),
                        granted,
                        Map.of("GPU-a", 1),
                        "Tesla T4",
                        false,
                        Set.of()));
    }

    @Test
    void aBoundPodIsNamedAndOneThatIsBeingBoundOnlyCounts() {
        share(Map.of());
        gpus.bind(pod("bound", Set.of("GPU-a")), "gpu-node-1");
        gpus.filter(pod("chosen", Set.of()), List.of("gpu-node-1"), NOON);

        assertThat(gpus.memory("gpu-node-1"))
                .contains(
                        new NodeMemory(
                                "gpu-node-1",
                                List.of(
                                        new GpuMemory(
                                                1,
                                                15_360,
                                                3_072,
                                                List.of(new PodMemory("team-a", "bound", 1_536))),
                                        new GpuMemory(null, 15_360, 0, List.of()))));
        assertThat(gpus.memory()).hasSize(1);
    }

    @Test
    void whatAPodThatHasGoneStillHoldsCounts() {
        share(Map.of("gone", List.of(new GpuHold("GPU-a", 50, 1_024, false))));

        GpuMemory gpu = gpus.memory("gpu-node-1").orElseThrow().gpus().getFirst();

        assertThat(gpu.used()).isEqualTo(1_024);
        assertThat(gpu.pods()).isEmpty();
    }

    @Test
    void aNodeThatSharesNothingIsNotShown() {
        gpus.bind(pod("elsewhere", Set.of()), "other");

        assertThat(gpus.memory()).isEmpty();
        assertThat(gpus.memory("other")).isEmpty();
        assertThat(gpus.memory("nowhere")).isEmpty();
    }
}
