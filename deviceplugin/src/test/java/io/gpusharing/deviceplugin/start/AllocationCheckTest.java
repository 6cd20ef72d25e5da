package io.gpusharing.deviceplugin.start;

import static io.gpusharing.deviceplugin.start.FakeNode.half;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.placement.PlacementAnnotation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
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
        NodePod pod = node.pod(uid, half("cuda"));
        node.admit(pod, "cuda", units);
        node.start(units);
        return node.runs(pod, "cuda", "containerd://" + uid);
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
        NodePod pod = running("a", "g0-0");
        node.annotated(pod, PlacementAnnotation.KEY, "a;cuda=GPU-1");
        node.loseGrants();

        assertThat(node.disagreements()).isEmpty();
        assertThat(node.gpuOf(pod)).isEqualTo("GPU-1");
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
        node.tidyUp();
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
