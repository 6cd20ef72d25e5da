package io.gpusharing.deviceplugin.start;

import static io.gpusharing.deviceplugin.start.FakeNode.half;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocationCheckTest {

    @TempDir private Path folder;
    private FakeNode node;

    @BeforeEach
    void start() throws IOException {
        node = new FakeNode(folder);
    }

    /** One that was started as it should be, and runs. */
    private NodePod running(String uid, String... units) throws Exception {
        return run(node.pod(uid, half("cuda")), units);
    }

    private NodePod run(NodePod pod, String... units) throws Exception {
        node.admit(pod, "cuda", units);
        node.start(units);
        return node.runs(pod, "cuda", "containerd://" + pod.uid());
    }

    /** The same, on a GPU that its scheduler has chosen. */
    private NodePod placed(String uid, String placement, String... units) throws Exception {
        NodePod pod = node.pod(uid, half("cuda"));
        return run(node.annotated(pod, PlacementAnnotation.KEY, placement), units);
    }

    @Test
    void ofPodsThatWereStartedAsTheyShouldBeBothSayTheSame() throws Exception {
        running("a", "g0-0", "g0-1");
        node.pod("waits", half("cuda"));
        node.allocate("waits", "cuda", "g1-0");

        assertThat(node.disagreements()).isEmpty();
    }

    @Test
    void aGrantThatWasLostIsGivenAgainAsItIsWrittenOnThePod() throws Exception {
        NodePod pod = placed("a", "a;cuda=GPU-1", "g0-0");
        String before = node.gpuOf(pod);
        node.loseGrants();

        assertThat(node.disagreements()).isEmpty();
        assertThat(node.gpuOf(pod)).isEqualTo(before).isEqualTo("GPU-1");
    }

    @Test
    void aGpuThatOthersWereGivenMeanwhileIsNotGivenAgain() throws Exception {
        placed("a", "a;cuda=GPU-1", "g0-0");
        node.loseGrants();
        placed("b", "b;cuda=GPU-1", "g0-2");
        placed("c", "c;cuda=GPU-1", "g0-3");

        assertThat(node.disagreements()).containsExactly("UNGRANTED pod-a");
    }

    @Test
    void whatAnotherPluginHasStartedIsTold() throws Exception {
        NodePod pod = placed("a", "a;cuda=GPU-1", "g0-0");
        node.loseGrants();
        Entry entry = node.table.removeFirst();
        node.table.add(new Entry(pod.uid(), "cuda", entry.resource(), entry.ids(), List.of()));

        assertThat(node.disagreements()).containsExactly("UNGRANTED pod-a");
    }

    @Test
    void whileAnotherPluginServesTheNodeNothingIsSaid() throws Exception {
        running("a", "g0-0");
        node.loseGrants();
        node.serving = false;

        assertThat(node.disagreements()).isEmpty();
    }

    @Test
    void whoIsBeingDeletedIsNotToldToBeDeleted() throws Exception {
        NodePod pod = running("a", "g0-0");
        node.loseGrants();
        node.delete(pod);

        assertThat(node.disagreements()).isEmpty();
    }

    @Test
    void aRunningPodOfWhichNobodyKnowsTheGpuIsTold() throws Exception {
        running("a", "g0-0");
        node.loseGrants();

        assertThat(node.disagreements()).containsExactly("UNGRANTED pod-a");
    }

    @Test
    void aPlacementOfAnotherPodIsWorthNothing() throws Exception {
        NodePod pod = running("a", "g0-0");
        node.annotated(pod, PlacementAnnotation.KEY, "b;cuda=GPU-1");
        node.loseGrants();

        assertThat(node.disagreements()).containsExactly("UNGRANTED pod-a");
    }

    @Test
    void whatTheKubeletForgotIsTold() throws Exception {
        running("a", "g0-0");
        running("b", "g0-1");
        node.table.removeIf(entry -> entry.podUid().equals("a"));

        assertThat(node.disagreements()).containsExactly("UNALLOCATED pod-a");
    }

    @Test
    void whatIsOverAtTheNextLookIsNotTold() throws Exception {
        NodePod pod = running("a", "g0-0");
        node.loseGrants();
        node.compare();
        node.end(pod);
        node.pass(Duration.ofSeconds(30));

        assertThat(node.disagreements()).isEmpty();
    }

    @Test
    void beforeThePodsAreKnownNothingIsSaid() throws Exception {
        running("a", "g0-0");
        node.loseGrants();
        node.current = false;

        assertThat(node.disagreements()).isEmpty();
    }
}
