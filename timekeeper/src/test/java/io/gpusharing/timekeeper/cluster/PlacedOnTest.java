package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.wire.GpuNodeStatus;
import io.gpusharing.wire.GpuNodeStatus.Gpu;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which GPUs a node has, where a pod was placed on one. */
class PlacedOnTest {

    private static final String GPU_NODES = "/gpunodes";

    private final FakeApiServer api = new FakeApiServer();
    private final ClusterView view = new ClusterView();
    private final SteppingClock clock = new SteppingClock(Instant.EPOCH);
    private final PlacedOn placed =
            new PlacedOn(api.client(), view, new UnreadableObjects(_ -> {}), clock);
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(Instant.EPOCH);

    PlacedOnTest() throws IOException {
        answer(143_771);
    }

    private void answer(long memory) {
        api.answer(
                GPU_NODES,
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNodeList", "metadata": {"resourceVersion": "1"},
                 "items": [{"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": "gpu-1"},
                 "status": {"gpus": [
                   {"uuid": "GPU-1", "index": 0, "model": "NVIDIA H200", "memoryMiB": %d, "health": "Healthy", "mode": "Idle"},
                   {"uuid": "GPU-2", "health": "Healthy", "mode": "Idle"}]}}]}
                """
                        .formatted(memory));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private long asked() {
        return api.requests.stream().filter(it -> it.path().endsWith(GPU_NODES)).count();
    }

    @Test
    void theGpusOfANodeAreReadWhenTheFirstPodIsPlacedThereAndNotAgain() {
        placed.learn(pod.facts());
        assertThat(asked()).as("of a pod that nobody placed").isZero();

        placed.learn(pod.placedOn("GPU-1").facts());
        placed.learn(pod.placedOn("GPU-1").facts());

        assertThat(view.gpus(Pods.NODE))
                .containsOnlyKeys("GPU-1", "GPU-2")
                .containsEntry("GPU-1", new PhysicalGpu("NVIDIA-H200", 143_771))
                .containsEntry("GPU-2", new PhysicalGpu(null, 0));
        assertThat(asked()).isOne();
        assertThat(api.requests.getFirst().query()).contains("metadata.name");
    }

    @Test
    void whatHasNoMemoryYetIsAskedForAgain() {
        placed.learn(pod.placedOn("GPU-1").facts());
        placed.learn(pod.placedOn("GPU-2").facts());

        assertThat(asked()).isEqualTo(2);
    }

    /** With ECC switched on, for instance, a GPU has less memory than before. */
    @Test
    void aPodThatIsBoundLaterHoldsAPartOfWhatItsGpuIsThen() {
        placed.learn(pod.placedOn("GPU-1").facts());

        placed.onGpuNode(gpuNode("GPU-1", 134_785));

        assertThat(view.gpus(Pods.NODE))
                .containsEntry("GPU-1", new PhysicalGpu("NVIDIA-H200", 134_785));
    }

    @Test
    void aGpuThatItsGpuNodeNamesLaterIsKnownAsSoonAsItDoes() {
        placed.learn(pod.placedOn("GPU-3").facts());
        assertThat(view.gpus(Pods.NODE)).doesNotContainKey("GPU-3");

        placed.onGpuNode(gpuNode("GPU-3", 143_771));
        placed.learn(pod.placedOn("GPU-3").facts());

        assertThat(view.gpus(Pods.NODE)).containsKey("GPU-3");
        assertThat(asked()).isOne();
    }

    @Test
    void allNodesAreReadAtOnce() {
        placed.learnAll();
        placed.learn(pod.placedOn("GPU-1").facts());

        assertThat(asked()).isOne();
        assertThat(view.gpus(Pods.NODE)).hasSize(2);
    }

    @Test
    void whatANodesTokenCanWriteCanBeStoredAndSummedUp() {
        assertThat(PhysicalGpu.of("a\0 \ud800b", Long.MAX_VALUE))
                .isEqualTo(new PhysicalGpu("a\ufffd-\ufffdb", 1L << 30));
    }

    @Test
    void whoAsksInVainAsksNotAtOnceAgain() {
        placed.learn(pod.placedOn("GPU-3").facts());
        placed.learn(pod.placedOn("GPU-3").facts());

        assertThat(asked()).isOne();
    }

    @Test
    void anApiServerThatDoesNotAnswerIsAskedOnceForAllPodsOfANode() {
        api.refuse(GPU_NODES, 500);

        placed.learn(pod.placedOn("GPU-1").facts());
        placed.learn(pod.placedOn("GPU-2").facts());
        assertThat(asked()).isOne();
        assertThat(view.gpus(Pods.NODE)).isEmpty();

        api.allow(GPU_NODES);
        clock.pass(Duration.ofSeconds(11));
        placed.learn(pod.placedOn("GPU-1").facts());
        assertThat(asked()).isEqualTo(2);
        assertThat(view.gpus(Pods.NODE)).containsKey("GPU-1");
    }

    private static GpuNode gpuNode(String uuid, long memory) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(Pods.NODE).build());
        node.setStatus(
                new GpuNodeStatus(
                        null,
                        List.of(
                                new Gpu(
                                        uuid,
                                        0L,
                                        "NVIDIA H200",
                                        memory,
                                        false,
                                        "Healthy",
                                        null,
                                        "Idle",
                                        null)),
                        null));
        return node;
    }
}
