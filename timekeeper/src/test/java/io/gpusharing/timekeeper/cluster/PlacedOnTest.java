package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
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
        answer(134_785);
        clock.pass(Duration.ofMinutes(1));

        placed.learn(
                Pods.waiting("team-a", 50, 15).boundAt(Instant.EPOCH).placedOn("GPU-1").facts());

        assertThat(view.gpus(Pods.NODE))
                .containsEntry("GPU-1", new PhysicalGpu("NVIDIA-H200", 134_785));
    }

    @Test
    void ofAPodThatIsThereAlreadyNothingIsAskedAgain() {
        placed.learn(pod.placedOn("GPU-1").facts());
        view.put(pod.placedOn("GPU-1").facts());
        clock.pass(Duration.ofMinutes(1));

        placed.learn(pod.placedOn("GPU-1").facts());

        assertThat(asked()).isOne();
    }

    @Test
    void whatCouldNotBeReadIsAskedForUntilItCan() {
        api.refuse(GPU_NODES, 500);
        placed.learn(pod.placedOn("GPU-1").facts());
        placed.work(clock.instant());
        assertThat(view.gpus(Pods.NODE)).isEmpty();

        api.allow(GPU_NODES);
        placed.work(clock.instant());
        placed.work(clock.instant());

        assertThat(view.gpus(Pods.NODE)).containsKey("GPU-1");
        assertThat(asked()).as("three times, once in vain and once").isEqualTo(5);
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
    void anApiServerThatDoesNotAnswerIsAskedAFewTimes() {
        api.refuse(GPU_NODES, 500);

        placed.learn(pod.placedOn("GPU-1").facts());

        assertThat(asked()).isEqualTo(3);
        assertThat(view.gpus(Pods.NODE)).isEmpty();
    }
}
