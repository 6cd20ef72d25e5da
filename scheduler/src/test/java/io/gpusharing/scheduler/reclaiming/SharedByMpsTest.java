package io.gpusharing.scheduler.reclaiming;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.explaining.Explainer;
import io.gpusharing.scheduler.explaining.Picture;
import io.gpusharing.scheduler.picture.reading.GroupGpus;
import io.gpusharing.scheduler.picture.reading.Readers;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Leave;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Reason;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Across;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.GpuHold;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Pods and nodes as they are stored, where pods of one budget share GPUs by MPS. */
class SharedByMpsTest {

    private static final String TAKES_TURNS = "request.gpusharing.io/mps: disabled";

    private final Readers readers =
            new Readers(
                    RequestGrammars.of(List.of("vcuda"), List.of()),
                    Gangs.OF_JOBS,
                    new PodSharing(Across.Budget));

    private final Cluster cluster = new Cluster().within("team-b").over("team-a", 5);

    private static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** A node with one GPU. */
    private SharedByMpsTest node(String name, String tier, KeptRoom... kept) {
        Node node =
                Serialization.unmarshal(
                        """
                        metadata: {name: %s}
                        status: {allocatable: {tencent.com/vcuda-core: "100", tencent.com/vcuda-memory: "64", pods: "110"}}
                        """
                                .formatted(name),
                        Node.class);
        GpuNode gpus =
                Serialization.unmarshal(
                        """
                        metadata: {name: %s}
                        status:
                          tier: %s
                          gpus:
                          - {uuid: GPU-%1$s, memoryMiB: 16384, health: Healthy, mode: Shared}
                        """
                                .formatted(name, tier),
                        GpuNode.class);
        cluster.replaceNode(readers.node(node, gpus, kept));
        return this;
    }

    /** One that asks for 30 of 100, of its namespace's budget. */
    private static Pod pod(String namespace, String name, String node, String annotations) {
        return Readers.pod(
                """
                metadata:
                  name: %s
                  namespace: %s
                  uid: %s
                  creationTimestamp: "2026-03-02T11:00:00Z"
                  annotations: {gpusharing.io/budget: %2$s, %s}
                spec:
                  priority: 0
                  nodeName: %s
                  containers:
                  - name: cuda
                    resources: {limits: {tencent.com/vcuda-core: "30", tencent.com/vcuda-memory: "4"}}
                status:
                  phase: Pending
                  conditions:
                  - {type: PodScheduled, status: "%s", reason: Unschedulable, lastTransitionTime: "2026-03-02T11:00:00Z"}
                """
                        .formatted(
                                name,
                                namespace,
                                uid(name),
                                annotations,
                                node.isEmpty() ? "null" : node,
                                node.isEmpty() ? "False" : "True"));
    }

    private SharedByMpsTest runs(String namespace, String name, String node) {
        cluster.runs(
                readers.gpuPod(
                        pod(
                                namespace,
                                name,
                                node,
                                "gpusharing.io/placement: '%s;cuda=GPU-%s'"
                                        .formatted(uid(name), node))));
        return this;
    }

    private Decision decide(Pod waiting) {
        return cluster.waits(readers.waiter(waiting)).decide();
    }

    private Explanation explain(Pod waiting) {
        return new Explainer(
                        new Picture(cluster.snapshot(), GpuNames::isGpu),
                        Cluster.RULES,
                        node -> List.of(),
                        namespace -> true)
                .explain(readers.subject(waiting, new GroupGpus()), 5);
    }

    private static List<String> victims(Decision decision) {
        return decision instanceof Evict plan
                ? plan.victims().stream().map(Victim::pod).map(pod -> pod.name()).sorted().toList()
                : List.of();
    }

    @Test
    void allOfAnotherBudgetGoFromAGpuForOneWhoMayNotShareItWithThem() {
        node("n1", "Cooperative").runs("team-a", "a", "n1").runs("team-a", "b", "n1");

        Decision decision = decide(pod("team-b", "w", "", ""));

        assertThat(victims(decision)).containsExactly("a", "b");
        assertThat(((Evict) decision).gpus())
                .containsExactly(
                        new GpuHold(
                                "GPU-n1", 30, 1_024, false, Sharing.cooperative("budget/team-b")));
    }

    @Test
    void nobodyGoesWhereTheyMayShareIt() {
        node("n1", "Cooperative").runs("team-b", "a", "n1");

        assertThat(decide(pod("team-b", "w", "", "")))
                .isInstanceOfSatisfying(
                        Leave.class, leave -> assertThat(leave.reason()).isEqualTo(Reason.FITS));
    }

    @Test
    void whereNoMpsIsServedAllTakeTurns() {
        node("n1", "TimeSlice").runs("team-a", "a", "n1");

        assertThat(victims(decide(pod("team-b", "w", "", "")))).isEmpty();
        assertThat(explain(pod("team-b", "w", "", "")).summary()).startsWith("It fits on n1");
    }

    @Test
    void aPodThatTakesTurnsSharesNoGpuWithThoseWhoDoNot() {
        node("n1", "Cooperative").runs("team-a", "a", "n1");

        assertThat(victims(decide(pod("team-b", "w", "", TAKES_TURNS)))).containsExactly("a");
    }

    @Test
    void aSentenceSaysThatTheSharingAloneKeepsItWaiting() {
        node("n1", "Cooperative").runs("team-a", "a", "n1");

        Explanation explanation = explain(pod("team-b", "w", "", ""));

        assertThat(explanation.summary())
                .startsWith(
                        "Each GPU that has room for it is shared by pods that it may not share one with; reclaim would evict 1 pod(s)");
        assertThat(requireNonNull(explanation.nodes()).why()).containsEntry("shared_otherwise", 1);
        assertThat(explanation.details().getFirst().gpus().getFirst().reason())
                .isEqualTo("shared_otherwise");
        assertThat(explanation.instead()).isNull();
    }

    @Test
    void lessOfAGpuIsSuggestedOnlyWhereItMayBeShared() {
        node("n1", "Cooperative").node("n2", "Cooperative");
        runs("team-a", "a", "n1");
        runs("team-b", "b", "n2").runs("team-b", "c", "n2").runs("team-b", "d", "n2");

        assertThat(requireNonNull(explain(pod("team-b", "w", "", "")).instead()).node())
                .isEqualTo("n2");
    }

    @Test
    void roomThatIsKeptForAnotherBudgetIsNone() {
        node(
                "n1",
                "Cooperative",
                new KeptRoom(
                        uid("other"),
                        1_000,
                        "n1",
                        List.of(
                                new GpuHold(
                                        "GPU-n1",
                                        30,
                                        1_024,
                                        false,
                                        Sharing.cooperative("budget/team-a"))),
                        Set.of(),
                        Instant.MAX));

        assertThat(explain(pod("team-b", "w", "", "")).summary()).contains("is kept for a pod");
        assertThat(explain(pod("team-a", "w", "", "")).summary()).startsWith("It fits on n1");
    }

    @Test
    void aPodWithSharedMemoryOfItsOwnTakesTurns() {
        Pod pod = pod("team-b", "w", "", "");
        assertThat(sharing(pod)).isEqualTo(Sharing.cooperative("budget/team-b"));

        Pod own =
                Readers.pod(
                        Serialization.asJson(pod)
                                .replace(
                                        "\"name\":\"cuda\"",
                                        "\"name\":\"cuda\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/dev/shm\"}]"));

        assertThat(sharing(own)).isEqualTo(Sharing.TIME_SLICES);
    }

    private Sharing sharing(Pod pod) {
        return readers.waiter(pod).ask().containers().getFirst().ask().sharing();
    }
}
