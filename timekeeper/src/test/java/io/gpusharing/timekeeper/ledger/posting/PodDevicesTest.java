package io.gpusharing.timekeeper.ledger.posting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.HamiGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.posting.PodDevices.Devices;
import io.gpusharing.timekeeper.testing.Pods;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods on a node that HAMi serves, with a T4 of 16 GiB and an A100 of 80. */
class PodDevicesTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private static final String JSON =
            """
            [{"id":"GPU-1","count":10,"devmem":16384,"devcore":100,"type":"NVIDIA-Tesla T4","numa":0,"health":true},
             {"id":"GPU-2","index":1,"count":10,"devmem":81920,"devcore":100,"type":"NVIDIA A100 80GB","health":true}]
            """;

    private static final String COLUMNS =
            "GPU-1,10,16384,100,NVIDIA-Tesla T4,0,true:GPU-2,10,81920,100,NVIDIA-NVIDIA A100 80GB,0,true:";

    private static final Weights WEIGHTS =
            new Weights(
                    1_000_000,
                    List.of(
                            new OfModel("Tesla-T4", 500_000, Instant.EPOCH),
                            new OfModel("NVIDIA-A100-80GB", 3_000_000, Instant.EPOCH)));

    private static ContainerRequest container(String name, Kind kind, long gpus, long mebibytes) {
        return new ContainerRequest(
                name,
                kind,
                Map.of(
                        HamiGrammar.COUNT, Quantity.of(gpus),
                        HamiGrammar.MEMORY, Quantity.of(mebibytes)),
                Map.of());
    }

    private static Devices devices(
            String register, String allocated, ContainerRequest... containers) {
        var node =
                new NodeFacts(
                        Map.of(HamiGrammar.COUNT, Quantity.of(20)),
                        Map.of("nvidia.com/gpu.product", "Tesla-T4"),
                        Map.of(NodeFacts.HAMI_REGISTER, register));
        PodFacts any = Pods.waiting("team-a", 0, 0).boundAt(TEN).facts();
        var pod =
                new PodFacts(
                        any.uid(),
                        "team-a",
                        "p",
                        null,
                        new PodRequest(List.of(containers)),
                        Claimed.NONE,
                        Map.of(HamiGrammar.ALLOCATED, allocated),
                        any.placement(),
                        any.lifecycle());
        var all =
                new PodDevices(
                        ClusterViews.withNode(node),
                        new RequestGrammars(List.of(new HamiGrammar())),
                        new ModelWeights(WEIGHTS, new SimpleMeterRegistry()));
        return Objects.requireNonNull(all.of(pod, TEN));
    }

    @ParameterizedTest
    @ValueSource(strings = {JSON, COLUMNS})
    void aPartIsOneOfTheGpuThatHamiHasGiven(String register) {
        ContainerRequest asking = container("cuda", Kind.App, 1, 8_192);

        Devices small = devices(register, "GPU-1,NVIDIA,8192,0:;", asking);
        Devices large = devices(register, "GPU-2,NVIDIA,8192,0:;", asking);

        assertThat(small.held().share().memory()).isEqualTo(500_000);
        assertThat(small.weight().model()).isEqualTo("Tesla-T4");
        assertThat(large.held().share().memory()).isEqualTo(100_000);
        assertThat(large.weight().millionths()).isEqualTo(3_000_000);
        assertThat(large.weight().memoryMiB()).isZero();
    }

    @Test
    void eachContainerIsOnItsOwn() {
        Devices both =
                devices(
                        JSON,
                        "GPU-1,NVIDIA,8192,0:;;GPU-2,NVIDIA,8192,0:;",
                        container("a", Kind.App, 1, 8_192),
                        new ContainerRequest("none", Kind.App, Map.of(), Map.of()),
                        container("b", Kind.App, 1, 8_192));

        assertThat(both.held().share().memory()).isEqualTo(600_000);
        // Five parts in six at a half, and one at three.
        assertThat(both.weight().millionths()).isEqualTo((5 * 500_000 + 3_000_000) / 6);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "GPU-9,NVIDIA,8192,0:;", "GPU-1,NVIDIA,1,0:;GPU-2,NVIDIA,1,0:;", "x"})
    void whereItDoesNotSayWhichGpuTheNodeSpeaksForIt(String allocated) {
        Devices any = devices(JSON, allocated, container("cuda", Kind.App, 1, 8_192));

        assertThat(any.held().share().memory()).isEqualTo(1_000_000 * 8_192L / 49_152);
        assertThat(any.weight().model()).isEqualTo("Tesla-T4");
    }

    @Test
    void aRegisterThatCannotBeReadNamesNoGpu() {
        Devices any = devices("[{", "GPU-1,NVIDIA,8192,0:;", container("cuda", Kind.App, 1, 8_192));

        assertThat(any.held().memoryKnown()).isFalse();
    }

    @Test
    void whereAllAreOfOneTypeTheNodesLabelHasTheModel() {
        Devices one =
                devices(
                        JSON.replace("NVIDIA A100 80GB", "NVIDIA-Tesla T4"),
                        "GPU-2,NVIDIA,8192,0:;",
                        container("cuda", Kind.App, 1, 8_192));

        assertThat(one.held().share().memory()).isEqualTo(100_000);
        assertThat(one.weight().model()).isEqualTo("Tesla-T4");
    }
}
