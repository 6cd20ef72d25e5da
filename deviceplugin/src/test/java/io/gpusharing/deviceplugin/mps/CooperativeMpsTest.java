package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.gpusharing.Names;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.GrantFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.Mps.Obstacle;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import io.gpusharing.deviceplugin.mps.fake.RunningMps;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.placement.Sharing;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The device plugin's side; the other program's is played by what it writes. */
class CooperativeMpsTest implements NodePods {

    @TempDir(factory = ShortFolder.class)
    private Path root;

    private final Map<String, NodePod> pods = new HashMap<>();
    private final Map<String, Set<Long>> processes = new HashMap<>();
    private final List<String> notices = new ArrayList<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private RunningMps mps;
    private Grants grants;
    private CooperativeMps node;
    private NodeGpu gpu;

    @BeforeEach
    void start() throws Exception {
        mps = RunningMps.start(root);
        gpu =
                new NodeGpu(
                        new PhysicalGpu(0, mps.folder().gpu(), 0, "Fake", 16_384, "", false), null);
        grants = new Grants(new GrantFile(root.resolve("grants.json")), grant -> {}, () -> {});
        node = node(48);
    }

    private CooperativeMps node(int mostClients) {
        return new CooperativeMps(
                root,
                new CooperativeMps.Rules(Sharing.Across.Budget, mostClients),
                new CooperativeMps.Node(
                        this,
                        () -> List.of(gpu),
                        grants,
                        uid -> processes.getOrDefault(uid, Set.of())),
                mps.program(),
                (pod, message) -> notices.add(message),
                Runnable::run,
                () -> now);
    }

    @AfterEach
    void end() {
        mps.close();
    }

    private NodePod pod(String uid) {
        return put(uid, null, Map.of("cuda", "id-1"));
    }

    private NodePod put(
            String uid, NodePod.@Nullable Deletion deletion, Map<String, String> running) {
        var pod =
                new NodePod(
                        uid,
                        "team",
                        "pod-" + uid,
                        false,
                        false,
                        deletion,
                        new PodRequest(List.of()),
                        Map.of(Names.BUDGET_ANNOTATION, "a"),
                        running,
                        NodePod.Ipc.USUAL);
        pods.put(uid, pod);
        return pod;
    }

    private ContainerPlacement granted(NodePod pod, long cores) throws IOException {
        var asks =
                List.of(
                        new ContainerAsk(
                                "cuda", Kind.App, new GpuAsk(1, cores, 1_024, false), Set.of()));
        grants.grant(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                PodPlacement.shared(asks, node.sharing(pod, asks)),
                List.of(gpu));
        return grants.of(pod.uid()).orElseThrow().containers().getFirst();
    }

    private Optional<String> obstacle(NodePod pod, ContainerPlacement container)
            throws IOException {
        return node.obstacle(pod, container.container(), container.gpus().getFirst())
                .map(Obstacle::reason);
    }

    private void daemonIs(Phase phase, String reason) throws IOException {
        new DaemonState(phase, order().check(), "9.0", reason).write(mps.folder());
    }

    private DaemonOrder order() throws IOException {
        return DaemonOrder.read(mps.folder());
    }

    private JsonObject start(NodePod pod, ContainerPlacement container) throws IOException {
        assertThat(obstacle(pod, container)).isEmpty();
        var edits = new JsonObject();
        node.admit(pod, container, edits);
        return edits;
    }

    /** A pod whose container has started beside a daemon that is ready. */
    private NodePod client(String uid) throws IOException {
        NodePod pod = pod(uid);
        ContainerPlacement container = granted(pod, 20);
        if (!order().shared()) {
            obstacle(pod, container);
        }
        daemonIs(Phase.Ready, "");
        start(pod, container);
        return pod;
    }

    @Test
    void aContainerStartsOnceTheDaemonOfItsGpuIsReady() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 30);

        assertThat(obstacle(pod, container).orElseThrow())
                .contains("not been started", "gpusharing-mps");
        assertThat(order().shared()).isTrue();
        daemonIs(Phase.Failed, "the daemon ended with 1");
        assertThat(obstacle(pod, container).orElseThrow()).contains("the daemon ended with 1");
        daemonIs(Phase.Ready, "");
        assertThat(obstacle(pod, container)).isEmpty();
    }

    @Test
    void aClientGetsThreeVariablesAndTheFolderOfOneSocket() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 30);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container))
                .hasToString(
                        """
                        {"env":["CUDA_MPS_PIPE_DIRECTORY=/run/gpusharing/mps",\
                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=30",\
                        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=1024M"],\
                        "mounts":[{"hostPath":"%s","containerPath":"/run/gpusharing/mps",\
                        "options":["ro","nosuid","nodev","noexec","bind"]}]}\
                        """
                                .formatted(mps.folder().client()));
        assertThat(notices).isEmpty();
    }

    @Test
    void aPercentageThatComputesWronglyIsRoundedAndThePodIsTold() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 40);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container).toString()).contains("THREAD_PERCENTAGE=37");
        assertThat(notices)
                .singleElement()
                .asString()
                .contains("limited to 37", "charged for the 40");
    }

    @Test
    void whereTheNextRightPercentageIsFarBelowNoneIsSetAndThePodIsTold() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 75);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container).toString()).doesNotContain("THREAD_PERCENTAGE");
        assertThat(notices).singleElement().asString().contains("nothing limits");
    }

    @Test
    void theClientThatWouldBeOneTooManyIsRefusedInWords() throws Exception {
        node = node(3);
        client("a");
        mps.client("hold");
        mps.client("hold");
        NodePod late = pod("late");

        assertThat(obstacle(late, granted(late, 10)).orElseThrow())
                .contains("has 2 MPS clients, and takes 2");
    }

    @Test
    void containersThatHaveNoContextYetCountAsClients() throws IOException {
        node = node(3);
        client("a");
        client("b");
        NodePod late = pod("late");

        assertThat(obstacle(late, granted(late, 10)).orElseThrow()).contains("takes 2");
    }

    @Test
    void aDaemonThatDoesNotAnswerStartsNobody() throws IOException {
        NodePod pod = client("a");
        mps.behave(Behaviour.CommandsNonsense);
        NodePod next = pod("next");

        assertThat(obstacle(next, granted(next, 10)).orElseThrow()).contains("get_server_list");
        assertThat(node.failures()).containsEntry(Answer.Failure.Nonsense, 1L);
        assertThat(pod.running()).isNotEmpty();
    }

    @Test
    void clientsOfAPodAreEndedThreeSecondsBeforeItIsKilled() throws Exception {
        client("a");
        client("b");
        Process victim = mps.client("work");
        Process beside = mps.client("work");
        processes.put("a", Set.of(victim.pid(), 1L));
        processes.put("b", Set.of(beside.pid()));
        put("a", new NodePod.Deletion(now.plusSeconds(30), 30), Map.of("cuda", "id-1"));

        now = now.plusSeconds(26);
        node.look();
        assertThat(victim.isAlive()).isTrue();
        now = now.plusSeconds(1);
        node.look();

        assertThat(victim.waitFor()).isEqualTo(3);
        assertThat(beside.isAlive()).isTrue();
        assertThat(node.drained()).containsEntry("Terminated", 1L);
    }

    @Test
    void aPodWithNearlyNoGraceIsDrainedAtOnce() throws Exception {
        client("a");
        Process victim = mps.client("hold");
        processes.put("a", Set.of(victim.pid()));
        put("a", new NodePod.Deletion(now.plusSeconds(4), 4), Map.of("cuda", "id-1"));

        node.look();

        assertThat(victim.waitFor()).isEqualTo(3);
    }

    @Test
    void whoWasDrainedLeavesNoDoubtAndWhoWasKilledDoes() throws Exception {
        client("a");
        client("b");
        client("c");
        node.look();
        put("a", new NodePod.Deletion(now, 0), Map.of("cuda", "id-1"));
        node.look();
        int before = order().check();

        gone("a");
        assertThat(order().check()).isEqualTo(before);
        gone("b");
        assertThat(order().check()).isEqualTo(before + 1);
        NodePod next = pod("next");
        assertThat(obstacle(next, granted(next, 10)).orElseThrow()).contains("it is being checked");
    }

    private void gone(String uid) throws IOException {
        pods.remove(uid);
        grants.release(grant -> grant.uid().equals(uid));
        node.look();
    }

    @Test
    void aDrainThatFailedLeavesADoubt() throws Exception {
        client("a");
        client("b");
        node.look();
        mps.behave(Behaviour.CommandsNonsense);
        put("a", new NodePod.Deletion(now, 0), Map.of("cuda", "id-1"));
        node.look();
        int before = order().check();

        gone("a");

        assertThat(node.drained()).containsKey("Failed");
        assertThat(order().check()).isGreaterThan(before);
    }

    @Test
    void aContainerThatStartsAgainFollowsACheck() throws IOException {
        NodePod pod = client("a");
        int before = order().check();
        ContainerPlacement container = grants.of("a").orElseThrow().containers().getFirst();

        assertThat(obstacle(pod, container)).isPresent();
        assertThat(order().check()).isEqualTo(before + 1);
        daemonIs(Phase.Ready, "");
        assertThat(obstacle(pod, container)).isEmpty();
    }

    @Test
    void aContainerThatCrashedIsFollowedByACheckEvenIfNobodyComes() throws IOException {
        client("a");
        node.look();
        int before = order().check();

        put("a", null, Map.of("cuda", "id-2"));
        node.look();

        assertThat(order().check()).isEqualTo(before + 1);
    }

    @Test
    void aGpuOnWhichMpsDoesNotWorkIsUnhealthyUntilItDoes() throws IOException {
        client("a");
        daemonIs(Phase.Failed, "a new client got nothing done in 20 s");

        assertThat(node.all().getFirst().fault()).contains("MPS does not work", "nothing done");
        daemonIs(Phase.Ready, "");
        assertThat(node.all()).containsExactly(gpu);
    }

    @Test
    void whenTheLastOneHasGoneTheGpuIsGivenBackAndOthersWaitForThat() throws IOException {
        client("a");
        gone("a");
        assertThat(order().shared()).isFalse();
        NodePod whole = pod("whole");
        var hold = new GpuHold(gpu.uuid(), 100, 16_384, true);

        assertThat(node.obstacle(whole, "cuda", hold).orElseThrow().reason())
                .contains("still kept for MPS");
        daemonIs(Phase.Stopped, "");
        assertThat(node.obstacle(whole, "cuda", hold)).isEmpty();
    }

    @Test
    void afterARestartOfThePluginDaemonAndClientsAreUntouchedAndChecked() throws Exception {
        client("a");
        Process client = mps.client("hold");
        int before = order().check();

        node = node(48);
        node.look();

        assertThat(order().shared()).isTrue();
        assertThat(order().check()).isEqualTo(before + 1);
        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void whereMpsWasTurnedOffAPodOfItHasToBeMadeAnew() throws IOException {
        NodePod pod = pod("a");
        GpuHold hold = granted(pod, 30).gpus().getFirst();

        assertThat(Mps.NONE.obstacle(pod, "cuda", hold).orElseThrow().isForEver()).isTrue();
    }

    @Override
    public Optional<NodePod> byUid(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    @Override
    public boolean isListed() {
        return true;
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) {
        return byUid(uid);
    }
}
