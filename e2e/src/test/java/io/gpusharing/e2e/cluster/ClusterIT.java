package io.gpusharing.e2e.cluster;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.gpusharing.recount.Bill;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the other tests assume of the control plane, without any service of ours. */
class ClusterIT {

    private static final Path RUN = Repository.root().resolve(".run");

    private static TestCluster cluster;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(RUN.resolve("bare"));
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void aDeletedPodEndsBeforeItVanishes() {
        var seen = new CopyOnWriteArrayList<Seen>();
        var pods = cluster.client().pods().inNamespace("default");
        create(pod("ends", 50, 0));
        running("ends");
        try (var _ = pods.withName("ends").watch(new Recorder(seen))) {
            cluster.kubectl().run("delete", "pod", "ends").orFail();
            await().until(() -> seen.stream().anyMatch(s -> s.action() == Watcher.Action.DELETED));
        }
        Pod last = seen.getLast().pod();
        assertThat(last.getStatus().getPhase()).isEqualTo("Failed");
        assertThat(last.getStatus().getContainerStatuses())
                .extracting(ContainerStatus::getState)
                .allSatisfy(
                        state -> assertThat(state.getTerminated().getFinishedAt()).isNotBlank());
        assertThat(seen)
                .anyMatch(s ->
                        s.action() == Watcher.Action.MODIFIED
                                && "Failed".equals(s.pod().getStatus().getPhase()));
    }

    @Test
    void theSchedulerPreemptsByPriority() {
        cluster.kubectl()
                .pipe(
                        """
                        {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: -100}
                        """,
                        "create",
                        "-f",
                        "-")
                .orFail();
        cluster.createNamespace("preemption");
        create(pod("victim", 200, 0, "priorityClassName: low"), "-n", "preemption");
        create(pod("bystander", 200, 0, "priorityClassName: low"), "-n", "preemption");
        running("victim", "preemption");
        running("bystander", "preemption");

        create(pod("preemptor", 100, 0), "-n", "preemption");

        running("preemptor", "preemption");
        assertThat(cluster.kubectl().run("get", "events", "-n", "preemption").orFail())
                .contains("Preempted");
        await().untilAsserted(() ->
                assertThat(cluster.client().pods().inNamespace("preemption").list().getItems())
                        .extracting(pod -> pod.getMetadata().getName())
                        .containsOnlyOnce("preemptor")
                        .hasSize(2));
        cluster.kubectl().run("delete", "namespace", "preemption", "--wait=false").orFail();
    }

    @Test
    void aQuotaOnSharesRefusesThePodTooMany() {
        cluster.createNamespace("quota");
        cluster.kubectl()
                .run(
                        "create",
                        "quota",
                        "gpus",
                        "-n",
                        "quota",
                        "--hard=requests.tencent.com/vcuda-core=60")
                .orFail();
        // A pod that comes before the API server's own watch has brought it the quota is not
        // counted.
        await().until(() ->
                tryToCreate(pod("far-too-many", 100, 30), "-n", "quota", "--dry-run=server")
                        .text()
                        .contains("exceeded quota: gpus"));
        create(pod("first", 50, 15), "-n", "quota");

        var second = tryToCreate(pod("second", 50, 15), "-n", "quota");

        assertThat(second.refused()).isTrue();
        assertThat(second.text())
                .contains("exceeded quota: gpus")
                .contains("used: requests.tencent.com/vcuda-core=50");
        cluster.kubectl().run("delete", "namespace", "quota", "--wait=false").orFail();
    }

    @Test
    void aPodOfAJobCompletesOnRequest() {
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: batch/v1
                        kind: Job
                        metadata: {name: brief}
                        spec:
                          template:
                            metadata: {annotations: {workshop/run-for: 2s}}
                            spec: {restartPolicy: Never, containers: [{name: cuda, image: cuda}]}
                        """,
                        "create",
                        "-f",
                        "-")
                .orFail();

        cluster.kubectl()
                .run("wait", "--for=condition=complete", "job/brief", "--timeout=30s")
                .orFail();

        var state =
                cluster.client()
                        .pods()
                        .inNamespace("default")
                        .withLabel("job-name", "brief")
                        .list()
                        .getItems()
                        .getFirst()
                        .getStatus()
                        .getContainerStatuses()
                        .getFirst()
                        .getState()
                        .getTerminated();
        assertThat(
                        Duration.between(
                                        Instant.parse(state.getStartedAt()),
                                        Instant.parse(state.getFinishedAt()))
                                .toSeconds())
                .isBetween(1L, 4L);
    }

    @Test
    void theAuditLogIsEnoughToBillAPodThatIsGone() {
        create(pod("billed", 50, 15));
        running("billed");
        Pod placed = cluster.client().pods().inNamespace("default").withName("billed").get();
        cluster.kubectl().run("delete", "pod", "billed").orFail();

        Bill bill = requireNonNull(AuditBills.of(cluster).get(placed.getMetadata().getUid()));

        assertThat(bill.rate("Max", 1_000_000)).isEqualTo(500_000);
        assertThat(AuditBills.amount(bill)).isBetween(500_000L, 10 * 500_000L);
    }

    @Test
    void theApiServerComesBackWithAllItsObjects() {
        cluster.createNamespace("remembered");

        cluster.killApiServer();
        assertThat(cluster.kubectl().run("get", "namespaces").refused()).isTrue();
        cluster.resume();

        await().atMost(Duration.ofSeconds(30))
                .until(() -> !cluster.kubectl().run("get", "namespace", "remembered").refused());
    }

    @Test
    void noProcessSurvivesItsKilledParent() throws Exception {
        var dir = RUN.resolve("orphan");
        var owner = new ProcessBuilder("sleep", "600").start();
        var up =
                new ProcessBuilder(
                                Repository.root().resolve("tools/cluster").toString(),
                                "up",
                                dir.toString(),
                                "--owner",
                                String.valueOf(owner.pid()))
                        .inheritIO()
                        .start();
        assertThat(up.waitFor(60, TimeUnit.SECONDS)).isTrue();
        List<ProcessHandle> members;
        try (var pids = Files.list(dir.resolve("kwok/clusters/gpusharing/pids"))) {
            members =
                    pids.map(ClusterIT::pid)
                            .map(ProcessHandle::of)
                            .map(p -> p.orElseThrow())
                            .toList();
        }
        assertThat(members).hasSize(5);

        owner.destroyForcibly();

        await().atMost(Duration.ofSeconds(15)).until(() -> Files.notExists(dir));
        await().until(() -> members.stream().noneMatch(ProcessHandle::isAlive));
    }

    private static long pid(Path file) {
        try {
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void create(String manifest, String... flags) {
        tryToCreate(manifest, flags).orFail();
    }

    private static Kubectl.Answer tryToCreate(String manifest, String... flags) {
        var arguments = new ArrayList<>(List.of("create", "-f", "-"));
        arguments.addAll(List.of(flags));
        return cluster.kubectl().pipe(manifest, arguments.toArray(String[]::new));
    }

    private static void running(String name) {
        running(name, "default");
    }

    private static void running(String name, String namespace) {
        requireNonNull(
                cluster.client()
                        .pods()
                        .inNamespace(namespace)
                        .withName(name)
                        .waitUntilReady(30, TimeUnit.SECONDS));
    }

    private static String pod(String name, int core, int memory, String... more) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          %s
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {tencent.com/vcuda-core: %d%s}}
        """
                .formatted(
                        name,
                        String.join("\n  ", more),
                        core,
                        memory == 0 ? "" : ", tencent.com/vcuda-memory: " + memory);
    }

    private record Seen(Watcher.Action action, Pod pod) {}

    private record Recorder(List<Seen> seen) implements Watcher<Pod> {

        @Override
        public void eventReceived(Action action, Pod pod) {
            seen.add(new Seen(action, pod));
        }

        @Override
        public void onClose(WatcherException cause) {}
    }
}
