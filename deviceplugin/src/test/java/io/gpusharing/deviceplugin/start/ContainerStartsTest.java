package io.gpusharing.deviceplugin.start;

import static io.gpusharing.deviceplugin.start.FakeNode.container;
import static io.gpusharing.deviceplugin.start.FakeNode.gpu;
import static io.gpusharing.deviceplugin.start.FakeNode.half;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cdi.DriverEdits;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.kubelet.PodResources.Holder;
import io.gpusharing.deviceplugin.mps.Mps;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import io.gpusharing.wire.PlacementAnnotation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerStartsTest {

    @TempDir private Path folder;
    private FakeNode node;

    @BeforeEach
    void start() throws IOException {
        node = new FakeNode(folder);
    }

    @Test
    void aContainerGetsTheGpuThatItsPodWasGiven() throws Exception {
        CdiDevice device = node.admit(node.pod("a", half("cuda")), "cuda", "g1-0", "g1-1");

        node.start("g1-0", "g1-1");

        // The fullest GPU on which it fits, whatever units the kubelet has chosen.
        assertThat(node.cdi(device).orElseThrow()).contains("NVIDIA_VISIBLE_DEVICES=GPU-0");
        assertThat(node.holders()).containsExactly("a");
    }

    @Test
    void aClientOfMpsStartsWhenItsGpuIsReadyAndGetsWhatItNeeds() throws Exception {
        var mps = new SteppingMps();
        node.mps = mps;
        node.restart();
        CdiDevice device = node.admit(node.pod("a", half("cuda")), "cuda", "g1-0");

        assertRefused(() -> node.start("g1-0"), "GPU-0 is not ready");
        after(Duration.ofSeconds(1), () -> mps.ready = true);
        node.start("g1-0");

        assertThat(node.cdi(device).orElseThrow()).contains("CUDA_MPS_PIPE_DIRECTORY=/there");
        assertThat(node.share(device)).contains("\"tier\":\"Cooperative\"");
    }

    @Test
    void aContainerCanReadWhatItHoldsOfWhichGpuAndByWhichTier() throws Exception {
        CdiDevice device = node.admit(node.pod("a", half("cuda")), "cuda", "g1-0");

        node.start("g1-0");

        assertThat(node.share(device))
                .isEqualTo(
                        """
                        {"namespace":"team","pod":"pod-a","podUid":"a","container":"cuda","gpus":[\
                        {"index":0,"uuid":"GPU-0","model":"Fake","core":50,"memoryMiB":4096,\
                        "whole":false,"tier":"TimeSlice"}]}\
                        """);
    }

    @Test
    void containersThatAskByMetagpuHaveMgctlOnTheirPath() throws Exception {
        node.dialect = Metagpu.USUAL;
        node.restart();
        var asks =
                new ContainerRequest(
                        "cuda", Kind.App, Map.of("cnvrg.io/metagpu", Quantity.of(1)), Map.of());
        CdiDevice device = node.admit(node.pod("a", asks), "cuda", "g0-0");

        node.start("g0-0");

        assertThat(node.cdi(device).orElseThrow())
                .contains("\"containerPath\":\"/usr/bin/mgctl\",\"options\":[\"ro\"");
    }

    @Test
    void othersDoNot() throws Exception {
        CdiDevice device = node.admit(node.pod("a", half("cuda")), "cuda", "g0-0");

        node.start("g0-0");

        assertThat(node.cdi(device).orElseThrow()).doesNotContain("mgctl");
    }

    @Test
    void whereTheNodeServesNoMpsAnyMoreItsPodsAreRefusedForEver() throws Exception {
        var mps = new SteppingMps();
        node.mps = mps;
        node.restart();
        node.admit(node.pod("a", half("cuda")), "cuda", "g1-0");
        mps.ready = true;
        node.start("g1-0");

        node.mps = Mps.NONE;
        node.restart();

        assertRefused(() -> node.start("g1-0"), "has to be made anew");
        assertThat(node.refused().getFirst().isFinal()).isTrue();
    }

    /** Serves MPS, once it is ready. */
    private static final class SteppingMps implements Mps {

        private boolean ready;

        @Override
        public Sharing sharing(NodePod pod, List<ContainerAsk> asks) {
            return Sharing.cooperative("cluster");
        }

        @Override
        public Optional<Obstacle> obstacle(NodePod pod, String container, GpuHold hold) {
            return ready
                    ? Optional.empty()
                    : Optional.of(new Obstacle(hold.gpu() + " is not ready", false));
        }

        @Override
        public void admit(NodePod pod, ContainerPlacement container, JsonObject edits) {
            DriverEdits.list(edits, "env").add("CUDA_MPS_PIPE_DIRECTORY=/there");
        }
    }

    @Test
    void twoHalvesShareAGpuAndTheThirdGoesToTheOther() throws Exception {
        assertThat(List.of(started("a"), started("b"), started("c")))
                .map(node::gpuOf)
                .containsExactly("GPU-0", "GPU-0", "GPU-1");
    }

    @Test
    void theSameUnitsOfTwoPodsStartNeither() {
        node.admit(node.pod("a", half("cuda")), "cuda", "g0-0", "g0-1");
        node.admit(node.pod("b", half("cuda")), "cuda", "g0-1", "g0-2");

        assertRefused(() -> node.start("g0-0", "g0-1"), "same units", "a and b");
        assertThat(node.holders()).isEmpty();
    }

    /** The kubelet's API says nothing of the other: it follows the table later. */
    @Test
    void theSameUnitsOfTwoPodsStartNeitherThoughTheApiNamesOneAlone() throws Exception {
        CdiDevice one = node.admit(node.pod("a", half("cuda")), "cuda", "g0-0");
        node.pod("b", half("cuda"));
        CdiDevice other = node.allocate("b", "cuda", "g0-0");

        assertRefused(() -> node.start("g0-0"), "same units", "a and b");
        assertThat(node.cdi(one)).isEmpty();
        assertThat(node.cdi(other)).isEmpty();
    }

    @Test
    void unitsThatNoContainerHoldsInTheKubeletsTableStartNothing() {
        node.admit(node.pod("a", half("cuda")), "cuda", "g0-0", "g0-1");

        assertRefused(() -> node.start("g0-0"), "no container with exactly these 1 units");
        assertRefused(() -> node.start("g0-9"), "no container");
    }

    @Test
    void aTableAndAnApiThatNameDifferentPodsAreBothNotBelieved() {
        NodePod pod = node.pod("a", half("cuda"));
        node.allocate("a", "cuda", "g0-0");
        node.api.add(
                new Holder("team", "another", "cuda", VcudaGrammar.CORE, Set.of("g0-0", "g0-1")));

        assertRefused(() -> node.start("g0-0"), "team/" + pod.name(), "team/another");
    }

    @Test
    void theKubeletsApiMayFollowItsTableAMomentLater() throws Exception {
        NodePod pod = node.pod("a", half("cuda"));
        CdiDevice device = node.allocate("a", "cuda", "g0-0");
        after(
                Duration.ofSeconds(1),
                () ->
                        node.api.add(
                                new Holder(
                                        "team",
                                        pod.name(),
                                        "cuda",
                                        VcudaGrammar.CORE,
                                        Set.of("g0-0"))));

        node.start("g0-0");

        assertThat(node.cdi(device)).isPresent();
    }

    @Test
    void aKubeletWhoseApiNeverNamesTheContainerIsNotBelieved() {
        node.pod("a", half("cuda"));
        node.allocate("a", "cuda", "g0-0");

        assertRefused(() -> node.start("g0-0"), "its API does not");
    }

    @Test
    void aPodThatTheApiServerDoesNotKnowWaitsFiveSeconds() {
        node.allocate("a", "cuda", "g0-0");
        Instant begun = node.now;

        assertRefused(() -> node.start("g0-0"), "no pod with UID a");
        assertThat(Duration.between(begun, node.now)).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void aStaticPodIsRefused() {
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
        node.allocate("a", "cuda", "g0-0");

        assertRefused(() -> node.start("g0-0"), "static pod");
    }

    @Test
    void aPodThatWasDeletedByForceKeepsItsGpuWhileItsProcessLives() throws Exception {
        NodePod first = started("a", 100);
        NodePod second = started("b", 100);
        node.process(1234, "a");
        node.pods.remove(first.uid());
        node.pass(Duration.ofSeconds(31));
        node.tidyUp();
        NodePod third = node.pod("c", container("cuda", Kind.App, 100, 0));
        node.admit(third, "cuda", "c-0");

        Instant begun = node.now;
        after(Duration.ofSeconds(3), () -> node.kill(1234));
        node.start("c-0");

        assertThat(Duration.between(begun, node.now)).isGreaterThanOrEqualTo(Duration.ofSeconds(3));
        assertThat(node.gpuOf(third)).isEqualTo("GPU-0");
        assertThat(node.gpuOf(second)).isEqualTo("GPU-1");
    }

    @Test
    void whileTheProcessDoesNotEndTheNextPodIsRefusedAfterTwentySeconds() throws Exception {
        node.process(1234, "a");
        NodePod first = started("a", 100);
        started("b", 100);
        node.pods.remove(first.uid());
        node.admit(node.pod("c", container("cuda", Kind.App, 100, 0)), "cuda", "c-0");
        Instant begun = node.now;

        assertRefused(() -> node.start("c-0"), "No GPU has room", "1 whole for cuda");
        assertThat(Duration.between(begun, node.now)).isEqualTo(Duration.ofSeconds(20));
        assertThat(node.holders()).containsExactly("a", "b");
    }

    @Test
    void aPodWithoutAProcessKeepsItsGpuWhileTheApiServerSaysThatItRuns() throws Exception {
        started("a", 100);
        node.pass(Duration.ofMinutes(1));

        node.tidyUp();

        assertThat(node.holders()).containsExactly("a");
    }

    @Test
    void nothingIsTakenBackBeforeAllPodsAreKnown() throws Exception {
        started("a", 100);
        node.pods.clear();
        node.current = false;
        node.pass(Duration.ofMinutes(1));

        node.tidyUp();

        assertThat(node.holders()).containsExactly("a");
    }

    @Test
    void aPodThatIsDeletedWhileItsContainerMayBeStartingKeepsItsGpu() throws Exception {
        NodePod pod = started("a", 100);
        node.pods.remove(pod.uid());

        node.tidyUp();
        assertThat(node.holders()).containsExactly("a");

        node.pass(Duration.ofSeconds(30));
        node.tidyUp();
        assertThat(node.holders()).isEmpty();
    }

    @Test
    void ofAnEndedPodNothingIsLeftThoughTheKubeletRemembersItForAWhile() throws Exception {
        NodePod pod = started("a", 50);
        node.end(pod);
        node.pass(Duration.ofSeconds(30));

        node.tidyUp();

        assertThat(node.holders()).isEmpty();
        assertThat(node.shares()).isEmpty();
    }

    @Test
    void onceTheContainerRunsNoOtherStartsByItsCdiName() throws Exception {
        NodePod pod = node.pod("a", half("cuda"));
        CdiDevice device = node.admit(pod, "cuda", "g0-0");
        node.start("g0-0");

        node.tidyUp();
        assertThat(node.cdi(device)).isPresent();

        node.runs(pod, "cuda", "containerd://1");
        node.tidyUp();
        assertThat(node.cdi(device)).isEmpty();
    }

    @Test
    void aRestartGetsTheSameGpuAndIsNotTakenForTheInstanceBefore() throws Exception {
        NodePod pod = node.pod("a", half("cuda"));
        CdiDevice device = node.admit(pod, "cuda", "g0-0");
        node.start("g0-0");
        pod = node.runs(pod, "cuda", "containerd://1");
        node.tidyUp();

        node.start("g0-0");
        node.tidyUp();
        assertThat(node.cdi(device).orElseThrow()).contains("GPU-0");
        assertThat(node.told).containsExactly("a");

        node.runs(pod, "cuda", "containerd://2");
        node.tidyUp();
        assertThat(node.cdi(device)).isEmpty();
    }

    @Test
    void unitsThatAnotherPluginGaveAwayStartNothing() {
        node.pod("a", half("cuda"));
        node.table.add(new Entry("a", "cuda", VcudaGrammar.CORE, Set.of("g0-0"), List.of()));
        node.api.add(new Holder("team", "pod-a", "cuda", VcudaGrammar.CORE, Set.of("g0-0")));

        assertRefused(() -> node.start("g0-0"), "handed out by another device plugin");
    }

    @Test
    void aPodThatIsDeletedWhileItWaitsForRoomGetsNothing() throws Exception {
        started("a", 100);
        started("b", 100);
        NodePod late = node.pod("c", container("cuda", Kind.App, 100, 0));
        node.admit(late, "cuda", "c-0");
        after(
                Duration.ofSeconds(1),
                () -> {
                    node.pods.remove("a");
                    node.pods.remove("c");
                });

        assertRefused(() -> node.start("c-0"), "ended or was deleted");
        assertThat(node.holders()).doesNotContain("c");
    }

    @Test
    void aGpuThatNobodyCanAskForAMomentIsWaitedFor() {
        node.gpus = List.of(new NodeGpu(gpu(0, null).physical(), "the driver does not answer"));
        NodePod pod = node.pod("a", half("cuda"));
        node.admit(pod, "cuda", "g0-0");

        assertThatThrownBy(() -> node.start("g0-0"))
                .isInstanceOfSatisfying(
                        StartRefused.class, refused -> assertThat(refused.isFinal()).isFalse());
    }

    @Test
    void aRestartOnAGpuThatHasFailedIsRefused() throws Exception {
        started("a", 50);
        node.gpus = List.of(gpu(0, "XID 79: it has fallen off the bus"), gpu(1, null));

        assertRefused(() -> node.start("a-0"), "GPU-0 is unhealthy: XID 79", "placed anew");
    }

    @Test
    void aRestartOnAGpuThatIsGoneIsRefused() throws Exception {
        started("a", 50);
        node.gpus = List.of(gpu(1, null));

        assertRefused(() -> node.start("a-0"), "GPU-0 is gone");
    }

    @Test
    void whatFitsOnNoGpuIsRefusedAtOnce() {
        node.admit(node.pod("a", container("cuda", Kind.App, 50, 100)), "cuda", "g0-0");
        Instant begun = node.now;

        assertRefused(() -> node.start("g0-0"), "fits on no GPU", "25600 MiB");
        assertThat(node.now).isEqualTo(begun);
    }

    @Test
    void aPodIsPutWhereItsSchedulerPlacedIt() throws Exception {
        NodePod pod =
                node.annotated(
                        node.pod("a", half("cuda")), PlacementAnnotation.KEY, "a;cuda=GPU-1");
        node.admit(pod, "cuda", "g0-0");

        node.start("g0-0");

        assertThat(node.gpuOf(pod)).isEqualTo("GPU-1");
    }

    @Test
    void aPlacementOfAnotherPodIsRefused() {
        NodePod pod =
                node.annotated(
                        node.pod("a", half("cuda")), PlacementAnnotation.KEY, "b;cuda=GPU-1");
        node.admit(pod, "cuda", "g0-0");

        assertRefused(() -> node.start("g0-0"), "not the placement of this pod");
    }

    @Test
    void anInitContainerOfWhichTheKubeletsApiSaysNothingStarts() throws Exception {
        NodePod pod = node.pod("a", half("cuda"), container("prepare", Kind.Init, 50, 16));
        CdiDevice prepare = node.allocate("a", "prepare", "g0-0");
        CdiDevice cuda = node.admit(pod, "cuda", "g0-0");

        node.start("g0-0");

        // Which of the two is about to start is not told.
        assertThat(node.cdi(prepare)).isPresent();
        assertThat(node.cdi(cuda)).isPresent();
    }

    @Test
    void onceOneOfTheTwoRunsTheFileOfTheOtherIsTakenAwayToo() throws Exception {
        NodePod pod = node.pod("a", half("cuda"), container("prepare", Kind.Init, 50, 16));
        CdiDevice prepare = node.allocate("a", "prepare", "g0-0");
        CdiDevice cuda = node.admit(pod, "cuda", "g0-0");
        node.start("g0-0");

        pod = node.runs(pod, "prepare", "containerd://1");
        node.tidyUp();
        assertThat(node.cdi(prepare)).isEmpty();
        assertThat(node.cdi(cuda)).isEmpty();

        node.start("g0-0");
        node.runs(pod, "cuda", "containerd://2");
        node.tidyUp();
        assertThat(node.cdi(prepare)).isEmpty();
        assertThat(node.cdi(cuda)).isEmpty();

        node.end(pod);
        node.tidyUp();
        assertThat(node.holders()).isEmpty();
    }

    @Test
    void aPodWhoseOnlyGpuContainerIsAnInitContainerStarts() throws Exception {
        node.pod("a", container("prepare", Kind.Init, 50, 16));
        CdiDevice prepare = node.allocate("a", "prepare", "g0-0");

        node.start("g0-0");

        assertThat(node.cdi(prepare)).isPresent();
    }

    @Test
    void aPodThatIsMadeAnewUnderItsNameIsAnother() throws Exception {
        NodePod first = started("a", 100);
        started("b", 100);
        node.process(1234, "a");
        node.pods.remove(first.uid());
        node.table.removeIf(entry -> entry.podUid().equals("a"));
        node.api.removeIf(holder -> holder.pod().equals(first.name()));
        NodePod second =
                node.put(
                        new NodePod(
                                "c",
                                first.namespace(),
                                first.name(),
                                false,
                                false,
                                null,
                                first.request(),
                                Map.of(),
                                Map.of(),
                                NodePod.Ipc.USUAL));
        node.admit(second, "cuda", "a-0");

        assertRefused(() -> node.start("a-0"), "No GPU has room");
        assertThat(node.holders()).containsExactly("a", "b");
    }

    private NodePod started(String uid) throws Exception {
        return started(uid, 50);
    }

    private NodePod started(String uid, long core) throws Exception {
        NodePod pod = node.pod(uid, container("cuda", Kind.App, core, core < 100 ? 16 : 0));
        node.admit(pod, "cuda", uid + "-0");
        node.start(uid + "-0");
        return pod;
    }

    private void after(Duration time, Runnable what) {
        node.later.put(node.now.plus(time), what);
    }

    private static void assertRefused(ThrowingCallable start, String... words) {
        assertThatThrownBy(start).isInstanceOf(StartRefused.class).hasMessageContainingAll(words);
    }
}
