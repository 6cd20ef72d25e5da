package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.gpusharing.Names;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.gpu.LogCapture;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.GrantFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.Mps.Obstacle;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import io.gpusharing.deviceplugin.mps.fake.RunningMps;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private boolean isListed = true;
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private RunningMps mps;
    private Grants grants;
    private CooperativeMps node;
    private NodeGpu gpu;
    private List<NodeGpu> gpus;
    private Executor drains = Runnable::run;

    @BeforeEach
    void start() throws Exception {
        mps = RunningMps.start(root);
        gpu = gpu(0, mps.folder().gpu());
        gpus = List.of(gpu);
        grants = new Grants(new GrantFile(root.resolve("grants.json")), grant -> {}, () -> {});
        node = node(48);
    }

    private static NodeGpu gpu(int index, String uuid) {
        return new NodeGpu(new PhysicalGpu(index, uuid, index, "Fake", 16_384, "", false), null);
    }

    private CooperativeMps node(int mostClients) {
        return new CooperativeMps(
                root,
                new CooperativeMps.Rules(Sharing.Across.Budget, mostClients),
                new CooperativeMps.Node(
                        this, () -> gpus, grants, uid -> processes.getOrDefault(uid, Set.of())),
                mps.program(),
                (pod, message) -> notices.add(message),
                task -> drains.execute(task),
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
        return granted(pod, List.of(ask("cuda", Kind.App, new GpuAsk(1, cores, 1_024, false))))
                .getFirst();
    }

    private List<ContainerPlacement> granted(NodePod pod, List<ContainerAsk> asks)
            throws IOException {
        grants.grant(
                pod.uid(),
                pod.namespace(),
                pod.name(),
                ContainerAsk.shared(asks, node.sharing(pod, asks)),
                gpus);
        return grants.of(pod.uid()).orElseThrow().containers();
    }

    private static ContainerAsk ask(String container, Kind kind, GpuAsk ask) {
        return new ContainerAsk(container, kind, ask, Set.of());
    }

    private Optional<String> obstacle(NodePod pod, ContainerPlacement container)
            throws IOException {
        return node.obstacle(pod, container.container(), container.gpus().getFirst())
                .map(Obstacle::reason);
    }

    private void daemonIs(Phase phase, String reason) throws IOException {
        new DaemonState(phase, order().change(), order().check(), "9.0", reason)
                .write(mps.folder());
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
        ContainerPlacement container = granted(pod, 25);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container))
                .hasToString(
                        """
                        {"env":["CUDA_MPS_PIPE_DIRECTORY=/run/gpusharing/mps",\
                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25",\
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
        ContainerPlacement container = granted(pod, 30);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container).toString()).contains("THREAD_PERCENTAGE=27");
        assertThat(notices)
                .singleElement()
                .asString()
                .contains("limited to 27", "charged for the 30");
    }

    @Test
    void whereTheNextRightPercentageIsFarBelowNoneIsSetAndThePodIsTold() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 75);
        obstacle(pod, container);
        daemonIs(Phase.Ready, "");

        assertThat(start(pod, container).toString()).contains("THREAD_PERCENTAGE=100");
        assertThat(notices).singleElement().asString().contains("nothing limits");
    }

    @Test
    void whoAsksForNoLimitHasNoneOfItsOwnEither() {
        var edits = new JsonObject();

        ClientEdits.of(mps.folder(), new GpuHold(gpu.uuid(), 0, 0, false), "9.0").addTo(edits);

        assertThat(edits.toString())
                .contains(
                        "\"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=100\"",
                        "\"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=\"");
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

        assertThat(obstacle(late, granted(late, 10)).orElseThrow())
                .contains("takes 2 MPS clients", "number 3");
    }

    @Test
    void whoWaitsKeepsNobodyWhoWasThereBeforeFromStartingAgain() throws IOException {
        node = node(3);
        NodePod crashed = client("a");
        client("b");
        granted(pod("late"), 10);
        granted(pod("later"), 10);

        obstacle(crashed, grants.of("a").orElseThrow().containers().getFirst());
        daemonIs(Phase.Ready, "");

        assertThat(obstacle(crashed, grants.of("a").orElseThrow().containers().getFirst()))
                .isEmpty();
    }

    @Test
    void aDaemonWhoseProgramHasEndedSaysSo() throws IOException {
        NodePod pod = pod("a");
        ContainerPlacement container = granted(pod, 30);
        daemonIs(Phase.Stopped, "the program that runs MPS daemons has ended");

        assertThat(obstacle(pod, container).orElseThrow())
                .contains("the program that runs MPS daemons has ended");
    }

    @Test
    void aStepWithAPartKeepsItsDaemonThoughItsPodHasTheGpuWhole() throws IOException {
        NodePod pod = put("a", null, Map.of("step", "id-1"));
        List<ContainerPlacement> containers =
                granted(
                        pod,
                        List.of(
                                ask("step", Kind.Init, new GpuAsk(1, 30, 1_024, false)),
                                ask("cuda", Kind.App, new GpuAsk(1, 100, 16_384, true))));
        ContainerPlacement step = of(containers, "step");
        ContainerPlacement app = of(containers, "cuda");
        obstacle(pod, step);
        daemonIs(Phase.Ready, "");
        start(pod, step);

        node.look();
        assertThat(order().shared()).isTrue();

        assertThat(obstacle(pod, app).orElseThrow()).contains("still kept for MPS");
        put("a", null, Map.of());
        node.look();
        assertThat(order().shared()).isFalse();
        daemonIs(Phase.Stopped, "");
        assertThat(obstacle(pod, app)).isEmpty();
    }

    private static ContainerPlacement of(List<ContainerPlacement> containers, String name) {
        return containers.stream()
                .filter(it -> it.container().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whoJoinsWhileTheLastOneLeavesKeepsTheDaemon() throws IOException {
        client("a");
        node.look();
        var joined = new AtomicBoolean();
        SharedGpu shared = new SharedGpu(mps.folder(), control(), 47);

        Thread joining =
                Thread.ofVirtual()
                        .unstarted(() -> {
                            try {
                                shared.toShare("b", "cuda", 1);
                                joined.set(true);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        shared.look(() -> {
            // Nobody is there yet; the other asks meanwhile, and has to wait.
            joining.start();
            while (joining.getState() == Thread.State.NEW
                    || joining.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
            assertThat(joined).isFalse();
            return Map.of();
        });
        join(joining);

        assertThat(order().shared()).isTrue();
    }

    @Test
    void whoWouldUseAGpuWithoutMpsTakesNoDaemonFromItsClients() throws IOException {
        client("a");
        NodePod whole = pod("whole");
        var hold = new GpuHold(gpu.uuid(), 100, 16_384, true);

        assertThat(node.obstacle(whole, "cuda", hold)).isPresent();

        assertThat(order().shared()).isTrue();
    }

    @Test
    void whoWasLetStartHasItsDaemonThoughItWasNotWantedForAMoment() throws IOException {
        NodePod pod = pod("a");
        SharedGpu shared = new SharedGpu(mps.folder(), control(), 47);
        shared.toShare("a", "cuda", 1);
        shared.toUseWithout("whole");
        assertThat(order().shared()).isFalse();

        shared.admitted("a", "cuda");
        shared.look(() -> Map.of("a", Optional.of(pod)));

        assertThat(order().shared()).isTrue();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private MpsControl control() {
        return new MpsControl(mps.program(), mps.folder(), MpsControl.USUAL, failure -> {});
    }

    @Test
    void aPodOnTwoGpusIsDrainedOnBoth() throws IOException {
        gpus = List.of(gpu, gpu(1, "GPU-2"));
        var held = new ArrayList<Runnable>();
        drains = held::add;
        NodePod pod = put("a", new NodePod.Deletion(now, 0), Map.of());
        granted(
                pod,
                List.of(
                        ask("one", Kind.App, new GpuAsk(1, 60, 1_024, false)),
                        ask("two", Kind.App, new GpuAsk(1, 60, 1_024, false))));
        for (ContainerPlacement container : grants.of("a").orElseThrow().containers()) {
            obstacle(pod, container);
        }

        node.look();
        node.look();

        assertThat(held).hasSize(2);
    }

    @Test
    void clientsOfAPodThatWasDeletedByForceAreEndedAtOnce() throws Exception {
        client("a");
        Process victim = mps.client("work");
        Process beside = mps.client("work");
        processes.put("a", Set.of(victim.pid()));
        isListed = false;
        pods.remove("a");

        node.look();
        assertThat(node.drained()).isEmpty();
        isListed = true;
        node.look();

        assertThat(victim.waitFor()).isEqualTo(3);
        assertThat(beside.isAlive()).isTrue();
    }

    @Test
    void whoAsksAtOnceAfterARestartOfThePluginAsksTheSameGpu() throws Exception {
        NodePod pod = client("a");
        ContainerPlacement container = grants.of("a").orElseThrow().containers().getFirst();
        for (int round = 0; round < 50; round++) {
            node = node(48);
            int before = order().check();
            var atOnce = new CyclicBarrier(4);
            Callable<Optional<String>> asking =
                    () -> {
                        atOnce.await();
                        return obstacle(pod, container);
                    };
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (var answer : threads.invokeAll(Collections.nCopies(4, asking))) {
                    assertThat(answer.get()).isPresent();
                }
            }
            assertThat(order().check()).isEqualTo(before + 1);
        }
    }

    @Test
    void aGpuWhoseOrderCannotBeReadIsUnhealthyAndHoldsUpNoOther() throws Exception {
        client("a");
        Process victim = mps.client("hold");
        processes.put("a", Set.of(victim.pid()));
        gpus = List.of(gpu, gpu(1, "GPU-0"));
        Path broken = Files.createDirectories(root.resolve("GPU-0")).resolve("order.json");
        Files.writeString(broken, "{}");
        put("a", new NodePod.Deletion(now, 0), Map.of("cuda", "id-1"));

        node.look();

        assertThat(victim.waitFor()).isEqualTo(3);
        assertThat(node.all().getLast().fault()).contains("order.json");
        Files.delete(broken);
        node.look();
        assertThat(node.all().getLast().fault()).isNull();
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
    void clientsOfPodsThatEndTogetherAreEndedOneAfterTheOther() throws Exception {
        client("a");
        client("b");
        Process one = mps.client("work");
        Process other = mps.client("work");
        processes.put("a", Set.of(one.pid()));
        processes.put("b", Set.of(other.pid()));
        mps.behave(Behaviour.CommandsCollide);
        put("a", new NodePod.Deletion(now, 0), Map.of("cuda", "id-1"));
        put("b", new NodePod.Deletion(now, 0), Map.of("cuda", "id-2"));

        try (var atOnce = Executors.newVirtualThreadPerTaskExecutor()) {
            drains = atOnce;
            node.look();
        }

        assertThat(node.drained()).containsExactly(Map.entry("Terminated", 2L));
        assertThat(mps.haveCommandsCollided()).isFalse();
        assertThat(one.waitFor()).isEqualTo(3);
        assertThat(other.waitFor()).isEqualTo(3);
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

    @Test
    void whoAsksAfterAKillThatNobodyHasToldYetWaitsForACheck() throws Exception {
        client("a");
        Process victim = mps.client("work");
        client("b");
        victim.destroyForcibly().waitFor();
        NodePod next = pod("next");
        ContainerPlacement container = granted(next, 10);

        assertThat(obstacle(next, container).orElseThrow()).contains("it is being checked");
        daemonIs(Phase.Ready, "");
        assertThat(obstacle(next, container)).isEmpty();
    }

    @Test
    void whoeverHasWaitedForACheckWaitsForNoOtherWhileProgramsComeAndGo() throws Exception {
        client("a");
        Process first = mps.client("hold");
        Process second = mps.client("hold");
        client("b");
        first.destroyForcibly().waitFor();
        NodePod next = pod("next");
        ContainerPlacement container = granted(next, 10);
        assertThat(obstacle(next, container).orElseThrow()).contains("it is being checked");
        daemonIs(Phase.Ready, "");

        second.destroyForcibly().waitFor();
        assertThat(obstacle(next, container)).isEmpty();

        NodePod other = pod("other");
        assertThat(obstacle(other, granted(other, 10)).orElseThrow())
                .contains("it is being checked");
    }

    @Test
    void whoAsksAfterAClientWasEndedByItsDaemonWaitsForNothing() throws Exception {
        client("a");
        Process victim = mps.client("work");
        client("b");
        processes.put("a", Set.of(victim.pid()));
        put("a", new NodePod.Deletion(now, 0), Map.of("cuda", "id-1"));
        node.look();
        NodePod next = pod("next");

        assertThat(obstacle(next, granted(next, 10))).isEmpty();
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
        try (var logged = new LogCapture(Drains.class.getPackageName())) {
            node.look();
            assertThat(logged.lines())
                    .anyMatch(line ->
                            line.contains("cannot be ended")
                                    && line.contains("get_server_list")
                                    && line.contains("segmentation 7 fault"));
        }
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
        daemonIs(Phase.Starting, "a new client got nothing done in 20 s");
        assertThat(node.all().getFirst().fault()).contains("nothing done");
        daemonIs(Phase.Ready, "");
        assertThat(node.all()).containsExactly(gpu);
    }

    @Test
    void whatWasToldOfAnEarlierOrderLetsNobodyHaveTheGpuWhole() throws IOException {
        client("a");
        DaemonState early =
                new DaemonState(Phase.Stopped, order().change() - 1, order().check(), "9.0", "");
        gone("a");
        early.write(mps.folder());
        NodePod whole = pod("whole");
        var hold = new GpuHold(gpu.uuid(), 100, 16_384, true);

        assertThat(node.obstacle(whole, "cuda", hold)).isPresent();
        daemonIs(Phase.Stopped, "");
        assertThat(node.obstacle(whole, "cuda", hold)).isEmpty();
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
        return isListed;
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) {
        return byUid(uid);
    }
}
