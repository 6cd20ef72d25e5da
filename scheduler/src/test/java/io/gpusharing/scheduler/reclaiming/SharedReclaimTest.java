package io.gpusharing.scheduler.reclaiming;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.Readers;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.wire.GpuHold;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods and nodes as they are stored, where our device plugin hands out the GPUs. */
class SharedReclaimTest {

    /** Two GPUs of 16 GiB that are shared, one by MIG and one that failed. */
    private static final String GPU_NODE =
            """
            apiVersion: gpusharing.io/v1alpha1
            kind: GpuNode
            metadata: {name: n1}
            status:
              tier: TimeSlice
              gpus:
              - {uuid: GPU-0, memoryMiB: 16384, mig: false, health: Healthy, mode: Idle, grants: [GRANTS]}
              - {uuid: GPU-1, memoryMiB: 16384, mig: false, health: Healthy, mode: Idle, grants: []}
              - {uuid: GPU-mig, memoryMiB: 81920, mig: true, health: Healthy, mode: Idle, grants: []}
              - {uuid: GPU-sick, memoryMiB: 81920, mig: false, health: Unhealthy, mode: Idle, grants: []}
            """;

    private static final String NODE =
            """
            apiVersion: v1
            kind: Node
            metadata: {name: n1}
            status:
              allocatable: {tencent.com/vcuda-core: "300", tencent.com/vcuda-memory: "999", aliyun.com/gpu-mem: "999", site/metagpu: "99", pods: "110"}
            """;

    private static final String HALF =
            "tencent.com/vcuda-core: '50', tencent.com/vcuda-memory: '30'";
    private static final String MOST =
            "tencent.com/vcuda-core: '80', tencent.com/vcuda-memory: '30'";

    private final Readers readers =
            new Readers(
                    RequestGrammars.of(
                            List.of("vcuda", "aliyun", "metagpu"),
                            new GrammarSettings(List.of(), Map.of("site/metagpu", 4))));

    private static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    /**
     * @param limits of its one container
     * @param annotations empty for a pod that waits
     */
    private static Pod pod(String namespace, String name, String limits, String annotations) {
        Instant since = Cluster.NOON.minusSeconds(3_600 + name.charAt(0));
        boolean bound = !annotations.isEmpty();
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: %s
                  uid: %s
                  creationTimestamp: "%s"
                  labels: {gpusharing.io/metered: "true"}
                  annotations: {%s}
                spec:
                  %s
                  containers:
                  - name: cuda
                    resources: {limits: {%s}}
                status:
                  conditions:
                  - {type: PodScheduled, status: "%s", reason: Unschedulable, lastTransitionTime: "%s"}
                """
                        .formatted(
                                name,
                                namespace,
                                uid(name),
                                since,
                                annotations,
                                bound ? "nodeName: n1" : "priority: 0",
                                limits,
                                bound ? "True" : "False",
                                since),
                Pod.class);
    }

    private static String placed(String name, String gpu) {
        return "gpusharing.io/placement: '%s;cuda=%s'".formatted(uid(name), gpu);
    }

    private static String grant(String name, long core) {
        return "{podUid: %s, namespace: team-a, pod: %s, container: cuda, kind: App, core: %d, memoryMiB: 7680}"
                .formatted(uid(name), name, core);
    }

    private Cluster cluster(String grants, KeptRoom... kept) {
        return new Cluster()
                .replaceNode(
                        readers.node(
                                Serialization.unmarshal(NODE, Node.class),
                                Serialization.unmarshal(
                                        GPU_NODE.replace("GRANTS", grants), GpuNode.class),
                                kept))
                .within("team-b")
                .within("team-c")
                .over("team-a", 5);
    }

    /** Room on GPU-1. */
    private static KeptRoom kept(String pod, int priority) {
        return new KeptRoom(
                uid(pod),
                priority,
                "n1",
                List.of(new GpuHold("GPU-1", 60, 1_024, false)),
                Set.of(),
                Cluster.NOON.plusSeconds(60));
    }

    private void runs(Cluster cluster, String namespace, String name, String annotations) {
        cluster.runs(readers.gpuPod(pod(namespace, name, HALF, annotations)));
    }

    private List<String> victims(Cluster cluster, String waiterAsks) {
        cluster.waits(readers.waiter(pod("team-b", "w", waiterAsks, "")));
        return cluster.decide() instanceof Evict evict
                ? evict.victims().stream().map(Victim::pod).map(PodRef::name).toList()
                : List.of();
    }

    @Test
    void whatOurSchedulerWroteSaysWhoIsOnAGpu() {
        Cluster cluster = cluster("");
        runs(cluster, "team-c", "stays", placed("stays", "GPU-0"));
        runs(cluster, "team-a", "a", placed("a", "GPU-0"));
        runs(cluster, "team-a", "b", placed("b", "GPU-1"));

        assertThat(victims(cluster, MOST)).containsExactly("b");
    }

    @Test
    void whatADevicePluginGrantedSaysItBeforeThat() {
        Cluster cluster = cluster(grant("stays", 50) + ", " + grant("a", 50));
        runs(cluster, "team-c", "stays", placed("stays", "GPU-1"));
        runs(cluster, "team-a", "a", placed("a", "GPU-1"));
        runs(cluster, "team-a", "b", placed("b", "GPU-1"));

        assertThat(victims(cluster, MOST)).containsExactly("b");
    }

    @Test
    void thePlanNamesTheGpuThatTheWaiterWillHave() {
        Cluster cluster = cluster("");
        runs(cluster, "team-c", "stays", placed("stays", "GPU-0"));
        runs(cluster, "team-a", "b", placed("b", "GPU-1"));
        cluster.waits(readers.waiter(pod("team-b", "w", MOST, "")));

        assertThat(cluster.decide())
                .isInstanceOfSatisfying(
                        Evict.class,
                        plan ->
                                assertThat(plan.gpus())
                                        .containsExactly(new GpuHold("GPU-1", 80, 7_680, false)));
    }

    @Test
    void roomThatIsKeptForAnotherIsNoRoom() {
        KeptRoom kept = kept("other", 0);
        Cluster cluster = cluster("", kept);
        runs(cluster, "team-a", "a", placed("a", "GPU-0"));

        assertThat(victims(cluster, MOST)).containsExactly("a");
    }

    @ParameterizedTest
    @CsvSource({"w, 0, it is its own", "other, -1, it is for one of a lower priority"})
    void roomThatTheWaiterMayTakeIsRoom(String keptFor, int priority, String why) {
        KeptRoom kept = kept(keptFor, priority);
        Cluster cluster = cluster("", kept);
        runs(cluster, "team-a", "a", placed("a", "GPU-0"));

        assertThat(victims(cluster, MOST)).as(why).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tencent.com/predicate-gpu-idx-0: '0'",
                "ALIYUN_COM_GPU_MEM_IDX: '0'",
                "gpusharing.io/placement: 'another-uid;cuda=GPU-0'"
            })
    void whatOthersWroteSaysNothingHere(String annotation) {
        Cluster cluster = cluster("");
        runs(cluster, "team-c", "anywhere", annotation);
        runs(cluster, "team-a", "b", placed("b", "GPU-1"));

        assertThat(victims(cluster, MOST)).as("it may be on GPU-1").isEmpty();
    }

    @ParameterizedTest(name = "{0} fits beside half a GPU: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "tencent.com/vcuda-core: '50', tencent.com/vcuda-memory: '34' | true",
                "tencent.com/vcuda-core: '50', tencent.com/vcuda-memory: '35' | false",
                "tencent.com/vcuda-core: '100'                                | false",
                "aliyun.com/gpu-mem: '8'                                      | true",
                "aliyun.com/gpu-mem: '9'                                      | false",
                "site/metagpu: '2'                                            | true",
                "site/metagpu: '3'                                            | false",
                "site/metagpu: '6'                                            | false"
            })
    void everyDialectIsReadAsOurSchedulerReadsIt(String asks, boolean fits) {
        Cluster cluster = cluster("");
        runs(cluster, "team-a", "a", placed("a", "GPU-0"));
        runs(cluster, "team-a", "b", placed("b", "GPU-1"));

        // b was there first.
        assertThat(victims(cluster, asks)).isEqualTo(fits ? List.of() : List.of("a"));
    }

    @Test
    void withoutAGpuNodeTheOtherProvidersAnnotationsSayIt() {
        Cluster cluster =
                cluster("").replaceNode(readers.node(Serialization.unmarshal(NODE, Node.class)));
        runs(cluster, "team-c", "stays", "tencent.com/predicate-gpu-idx-0: '0'");
        runs(cluster, "team-a", "a", "tencent.com/predicate-gpu-idx-0: '0'");
        runs(cluster, "team-a", "b", "tencent.com/predicate-gpu-idx-0: '1'");
        runs(cluster, "team-c", "too", "tencent.com/predicate-gpu-idx-0: '2'");

        assertThat(victims(cluster, MOST)).containsExactly("b");
    }
}
