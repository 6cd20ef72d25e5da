package io.gpusharing.scheduler.gpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is written on a pod besides our own placement, as the programs of other providers do. */
class DialectTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00.000000001Z");
    private static final String NANOSECONDS = "1772452800000000001";

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));

    private void share(Map<String, Integer> indexes) {
        gpus.describe(
                new SharedNode(
                        "node",
                        List.of(new Gpu("GPU-a", 100, 15_360), new Gpu("GPU-b", 100, 15_360)),
                        List.of(),
                        Map.of(),
                        indexes,
                        "NVIDIA H200",
                        false,
                        Set.of()));
    }

    private static ContainerAsk half(String container, Kind kind) {
        return new ContainerAsk(container, kind, new GpuAsk(1, 50, 3_840, false), Set.of());
    }

    private static ContainerAsk whole(String container, int count) {
        return new ContainerAsk(container, Kind.App, new GpuAsk(count, 100, 0, true), Set.of());
    }

    private Map<String, String> written(Dialect dialect, ContainerAsk... asks) {
        var pod =
                new GpuPod(
                        "uid",
                        "team",
                        "train",
                        Arrays.asList(asks),
                        List.of("logs", "cuda", "second"),
                        dialect,
                        0,
                        null,
                        Strategy.BestFit,
                        null);
        gpus.filter(pod, List.of("node"), NOON);
        return gpus.claim("uid", "node", NOON).orElseThrow().annotations("uid");
    }

    @Test
    void gpuManagersKeysCountAllContainersOfThePodButNotItsInitContainers() {
        share(Map.of("GPU-a", 0, "GPU-b", 1));

        assertThat(
                        written(
                                Dialect.Vcuda,
                                half("prepare", Kind.Init),
                                half("cuda", Kind.App),
                                half("second", Kind.App)))
                .containsOnly(
                        Map.entry(
                                "gpusharing.io/placement",
                                "uid;cuda=GPU-a;second=GPU-a;prepare=GPU-a"),
                        Map.entry("tencent.com/predicate-gpu-idx-1", "0"),
                        Map.entry("tencent.com/predicate-gpu-idx-2", "0"),
                        Map.entry("tencent.com/predicate-node", "node"),
                        Map.entry("tencent.com/predicate-time", NANOSECONDS),
                        Map.entry("tencent.com/gpu-assigned", "true"));
    }

    @Test
    void ofSeveralWholeGpusAllNumbersAreNamed() {
        share(Map.of("GPU-a", 4, "GPU-b", 7));

        assertThat(written(Dialect.Vcuda, whole("cuda", 2)).get("tencent.com/predicate-gpu-idx-1"))
                .isIn("4,7", "7,4");
    }

    @Test
    void gpushareIsToldTheGpuAndWhatThePodHoldsOfIt() {
        share(Map.of("GPU-a", 0, "GPU-b", 1));
        var memory = new ContainerAsk("cuda", Kind.App, new GpuAsk(1, 0, 3_072, false), Set.of());

        Map<String, String> written = written(Dialect.Aliyun, memory);

        assertThat(written)
                .containsEntry("ALIYUN_COM_GPU_MEM_IDX", "0")
                .containsEntry("ALIYUN_COM_GPU_MEM_DEV", "15")
                .containsEntry("ALIYUN_COM_GPU_MEM_POD", "3")
                .containsEntry("ALIYUN_COM_GPU_MEM_ASSIGNED", "true")
                .containsEntry("ALIYUN_COM_GPU_MEM_ASSUME_TIME", NANOSECONDS)
                .hasSize(6);
    }

    @Test
    void whereTheNumberOfAGpuIsNotKnownOnlyOurOwnPlacementIsWritten() {
        share(Map.of());

        assertThat(written(Dialect.Vcuda, half("cuda", Kind.App)))
                .containsOnlyKeys("gpusharing.io/placement");
    }

    @Test
    void metagpusProgramsReadNothing() {
        share(Map.of("GPU-a", 0, "GPU-b", 1));

        assertThat(written(Dialect.Metagpu, half("cuda", Kind.App)))
                .containsOnlyKeys("gpusharing.io/placement");
    }
}
