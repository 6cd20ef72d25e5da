package io.gpusharing.deviceplugin.start;

import static io.gpusharing.deviceplugin.start.FakeNode.container;
import static io.gpusharing.deviceplugin.start.FakeNode.gpu;
import static io.gpusharing.deviceplugin.start.FakeNode.half;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.RefusedPod;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of refusals: who is evicted, and who pays for what, is decided by it. */
class RefusedPodsTest {

    @TempDir private Path folder;
    private FakeNode node;

    @BeforeEach
    void start() throws IOException {
        node = new FakeNode(folder);
    }

    @Test
    void aPodWithoutRoomWaitsFromItsFirstTryUntilItIsLetStart() throws Exception {
        NodePod first = started("a");
        started("b");
        Instant begun = node.now;
        refused("c", 100);

        assertThat(node.refused())
                .singleElement()
                .satisfies(pod -> {
                    assertThat(pod.uid()).isEqualTo("c");
                    assertThat(pod.since()).isEqualTo(begun);
                    assertThat(pod.until()).isNull();
                    assertThat(pod.isFinal()).isFalse();
                    assertThat(pod.ran()).isFalse();
                    assertThat(pod.reason()).startsWith("No GPU has room");
                });

        node.end(first);
        node.pass(Duration.ofSeconds(31));
        node.tidyUp();
        node.start("c-0");

        assertThat(node.refused())
                .singleElement()
                .satisfies(pod -> {
                    assertThat(pod.since()).isEqualTo(begun);
                    assertThat(pod.until()).isEqualTo(node.now);
                });
    }

    @Test
    void furtherTriesChangeNothingThatIsPublished() throws Exception {
        started("a", 60);
        started("b", 60);
        refused("c", 50);
        assertThat(node.changes).isEqualTo(1);

        // Another amount is free, so the reason is another.
        started("d", 10);
        refuse("c");

        assertThat(node.changes).isEqualTo(1);
        assertThat(node.refused()).singleElement().extracting(RefusedPod::uid).isEqualTo("c");
    }

    @Test
    void anotherReasonIsPublishedAndTheBeginRemains() throws Exception {
        started("a");
        started("b");
        Instant begun = node.now;
        NodePod pod = node.pod("c", container("cuda", Kind.App, 100, 0));
        node.allocate("c", "cuda", "c-0");
        refuse("c");
        assertThat(node.refused().getFirst().reason()).contains("its API does not");

        node.table.removeIf(entry -> entry.podUid().equals("c"));
        node.admit(pod, "cuda", "c-0");
        refuse("c");

        assertThat(node.refused())
                .singleElement()
                .satisfies(refused -> {
                    assertThat(refused.reason()).startsWith("No GPU has room");
                    assertThat(refused.since()).isEqualTo(begun);
                });
    }

    @Test
    void whatFitsOnNoGpuIsFinal() {
        node.admit(node.pod("a", container("cuda", Kind.App, 50, 100)), "cuda", "a-0");
        refuse("a");

        assertThat(node.refused())
                .singleElement()
                .satisfies(pod -> assertThat(pod.isFinal()).isTrue());
    }

    @Test
    void aPlacementOfAnotherPodIsFinal() {
        NodePod pod =
                node.annotated(
                        node.pod("a", half("cuda")), PlacementAnnotation.KEY, "b;cuda=GPU-1");
        node.admit(pod, "cuda", "a-0");
        refuse("a");

        assertThat(node.refused())
                .singleElement()
                .satisfies(refused -> assertThat(refused.isFinal()).isTrue());
    }

    @Test
    void aKubeletThatContradictsItselfPasses() {
        node.pod("a", half("cuda"));
        node.allocate("a", "cuda", "a-0");
        refuse("a");

        assertThat(node.refused())
                .singleElement()
                .satisfies(pod -> assertThat(pod.isFinal()).isFalse());
    }

    @Test
    void aContainerThatIsRefusedWhileAnotherOfItsPodRunsIsNotHeldBackByUs() throws Exception {
        startedOnTwoGpus();
        node.gpus = List.of(gpu(0, null), gpu(1, "XID 79"));
        refuse("other");

        assertThat(node.refused())
                .singleElement()
                .satisfies(pod -> {
                    assertThat(pod.ran()).isTrue();
                    assertThat(pod.isFinal()).isTrue();
                });
    }

    @Test
    void thePluginsRestartMakesNoUnstartedPodOfOneThatRuns() throws Exception {
        startedOnTwoGpus();
        node.restart();
        node.gpus = List.of(gpu(0, null), gpu(1, "XID 79"));
        refuse("other");

        assertThat(node.refused()).singleElement().satisfies(pod -> assertThat(pod.ran()).isTrue());
    }

    @Test
    void theRestartOfAPodOnAGpuThatRecoversIsForgotten() throws Exception {
        NodePod pod = started("a");
        node.runs(pod, "cuda", "containerd://1");
        node.gpus = List.of(gpu(0, "XID 13"), gpu(1, null));
        refuse("a");
        assertThat(node.refused()).hasSize(1);

        node.gpus = List.of(gpu(0, null), gpu(1, null));
        node.start("a-0");

        assertThat(node.refused()).isEmpty();
    }

    @Test
    void aRestartThatIsRefusedForAMomentEvictsNobody() throws Exception {
        started("a");
        node.api.clear();
        refuse("a");

        assertThat(node.refused()).isEmpty();
    }

    @Test
    void aStaticPodIsNeverPublished() {
        node.put(
                new NodePod(
                        "a",
                        "team",
                        "static",
                        true,
                        false,
                        null,
                        new PodRequest(List.of(half("cuda"))),
                        Map.of(),
                        Map.of(),
                        NodePod.Ipc.USUAL));
        node.allocate("a", "cuda", "a-0");
        refuse("a");

        assertThat(node.refused()).isEmpty();
    }

    @Test
    void aPodThatTheApiServerDoesNotKnowMayBeStaticAndIsNotPublished() {
        node.allocate("a", "cuda", "a-0");
        refuse("a");

        assertThat(node.refused()).isEmpty();
    }

    @Test
    void whoIsDeletedWhileItWaitsIsHeldBackForHalfAMinuteAtMost() throws Exception {
        started("a");
        started("b");
        NodePod pod = refused("c", 100);
        node.pass(Duration.ofSeconds(10));
        node.delete(pod);
        node.tidyUp();
        Instant end = node.now.plusSeconds(30);

        // Its grace may be long.
        node.pass(Duration.ofHours(1));
        refuse("c");
        node.tidyUp();

        assertThat(node.refused())
                .singleElement()
                .satisfies(refused -> assertThat(refused.until()).isEqualTo(end));
    }

    @Test
    void aPodThatIsGoneIsRememberedForADay() throws Exception {
        started("a");
        started("b");
        NodePod pod = refused("c", 100);
        node.pods.remove(pod.uid());
        node.tidyUp();
        Instant gone = node.now;
        node.pass(Duration.ofHours(23));
        node.tidyUp();

        assertThat(node.refused())
                .singleElement()
                .satisfies(refused -> assertThat(refused.until()).isEqualTo(gone));

        node.pass(Duration.ofHours(2));
        node.tidyUp();
        assertThat(node.refused()).isEmpty();
    }

    @Test
    void nobodyIsTakenForGoneBeforeAllPodsAreKnown() throws Exception {
        started("a");
        started("b");
        refused("c", 100);
        node.restart();
        node.pods.clear();
        node.current = false;
        node.tidyUp();

        assertThat(node.refused())
                .singleElement()
                .satisfies(refused -> assertThat(refused.until()).isNull());
    }

    @Test
    void aRestartOfThePluginForgetsNoRefusal() throws Exception {
        started("a");
        started("b");
        refused("c", 100);
        List<RefusedPod> before = node.refused();

        node.restart();
        node.tidyUp();
        refuse("c");

        assertThat(node.refused()).isEqualTo(before);
    }

    @Test
    void aPodThatRunsIsNotTakenForRefusedIfThePluginEndedBeforeItCouldNoteThat() throws Exception {
        NodePod first = started("a");
        started("b");
        NodePod pod = refused("c", 100);
        String refusals = Files.readString(folder.resolve("refused.json"));
        node.end(first);
        node.pass(Duration.ofSeconds(31));
        node.tidyUp();
        node.start("c-0");
        Files.writeString(folder.resolve("refused.json"), refusals);
        node.restart();
        assertThat(node.refused().getFirst().until()).isNull();

        node.runs(pod, "cuda", "containerd://1");
        node.tidyUp();

        assertThat(node.refused().getFirst().until()).isEqualTo(node.now);
    }

    @Test
    void aFileThatCannotBeReadStopsNothing() throws Exception {
        Files.writeString(folder.resolve("refused.json"), "{\"version\": 1, \"refused\": [{}]}");
        node.restart();

        assertThat(node.refused()).isEmpty();
        started("a");
    }

    @Test
    void aDiskThatTakesNothingRefusesNobody() throws Exception {
        started("a", 50);
        Files.createDirectories(folder.resolve("refused.json/full"));
        node.admit(node.pod("b", container("cuda", Kind.App, 50, 100)), "cuda", "b-0");
        refuse("b");

        assertThat(node.refused()).hasSize(1);
        started("c", 50);
    }

    @Test
    void thoseThatWaitAreKeptWhenThereAreTooMany() throws Exception {
        started("a");
        started("b");
        NodePod gone = refused("gone", 100);
        node.pods.remove(gone.uid());
        node.tidyUp();
        for (int i = 1; i <= RefusedPods.MOST + 1; i++) {
            refused("c" + i, 100);
        }

        assertThat(node.refused())
                .hasSize(RefusedPods.MOST)
                .extracting(RefusedPod::uid)
                .contains("c1", "c100")
                .doesNotContain("gone", "c101");
    }

    private NodePod started(String uid) throws Exception {
        return started(uid, 100);
    }

    private NodePod started(String uid, long core) throws Exception {
        NodePod pod = admitted(uid, core);
        node.start(uid + "-0");
        return pod;
    }

    private NodePod refused(String uid, long core) {
        NodePod pod = admitted(uid, core);
        refuse(uid);
        return pod;
    }

    private NodePod admitted(String uid, long core) {
        NodePod pod = node.pod(uid, container("cuda", Kind.App, core, core < 100 ? 16 : 0));
        node.admit(pod, "cuda", uid + "-0");
        return pod;
    }

    /** Two whole GPUs for one pod, of which one container runs. */
    private void startedOnTwoGpus() throws Exception {
        NodePod pod =
                node.pod(
                        "a",
                        container("cuda", Kind.App, 100, 0),
                        container("other", Kind.App, 100, 0));
        node.admit(pod, "cuda", "a-0");
        node.admit(pod, "other", "other-0");
        node.start("a-0");
        node.runs(pod, "cuda", "containerd://1");
    }

    /** The kubelet tries once more. */
    private void refuse(String units) {
        assertThatThrownBy(() -> node.start(units + "-0")).isInstanceOf(StartRefused.class);
    }
}
