package io.gpusharing.scheduler.explaining;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.reading.GroupGpus;
import io.gpusharing.scheduler.picture.reading.Readers;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.Explanation.End;
import io.gpusharing.wire.Explanation.GpuDetail;
import io.gpusharing.wire.Explanation.Holder;
import io.gpusharing.wire.Explanation.NodeDetail;
import io.gpusharing.wire.Explanation.Nodes;
import io.gpusharing.wire.Explanation.Room;
import io.gpusharing.wire.Explanation.State;
import io.gpusharing.wire.Explanation.Victim;
import io.gpusharing.wire.GpuHold;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods and nodes as they are stored, and what is said of a pod that waits. */
class ExplainerTest {

    private static final String SIXTY =
            "tencent.com/vcuda-core: '60', tencent.com/vcuda-memory: '30'";

    private final Readers readers =
            new Readers(
                    RequestGrammars.of(
                            List.of("vcuda", "aliyun", "metagpu"),
                            new GrammarSettings(List.of(), Map.of("site/metagpu", 4))));

    private final GroupGpus groups = new GroupGpus();

    private final Cluster cluster =
            new Cluster().within("team-b").within("team-c").over("team-a", 5);

    private static final String GROUP = "request.gpusharing.io/same-gpu: g";

    private static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static Node node(String name, String more) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                %s
                status:
                  allocatable: {tencent.com/vcuda-core: "200", tencent.com/vcuda-memory: "128", aliyun.com/gpu-mem: "32", pods: "110", cpu: "8"}
                """
                        .formatted(name, more),
                Node.class);
    }

    /** Two GPUs of 16 GiB. */
    private static GpuNode gpus(String name, String healthOfBoth, String grants) {
        return Serialization.unmarshal(
                """
                apiVersion: gpusharing.io/v1alpha1
                kind: GpuNode
                metadata: {name: %s}
                status:
                  tier: TimeSlice
                  gpus:
                  - {index: 0, uuid: GPU-0, memoryMiB: 16384, mig: false, health: %s, mode: Idle, grants: [%s]}
                  - {index: 1, uuid: GPU-1, memoryMiB: 16384, mig: false, health: %s, mode: Idle, grants: []}
                """
                        .formatted(name, healthOfBoth, grants, healthOfBoth),
                GpuNode.class);
    }

    private ExplainerTest shared(String name, KeptRoom... kept) {
        cluster.replaceNode(readers.node(node(name, ""), gpus(name, "Healthy", ""), kept));
        return this;
    }

    private static Pod pod(String namespace, String name, String spec, String annotations) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: %s
                  uid: %s
                  creationTimestamp: "2026-03-02T11:00:00Z"
                  annotations: {%s}
                spec:
                  priority: 0
                %s
                status:
                  phase: Pending
                  conditions:
                  - {type: PodScheduled, status: "%s", reason: %s, lastTransitionTime: "2026-03-02T11:00:00Z"}
                """
                        .formatted(
                                name,
                                namespace,
                                uid(name),
                                annotations,
                                spec.indent(2),
                                spec.contains("nodeName") ? "True" : "False",
                                spec.contains("nodeName") ? "Bound" : "Unschedulable"),
                Pod.class);
    }

    private static String container(String name, String limits) {
        return "- {name: %s, resources: {limits: {%s}}}".formatted(name, limits);
    }

    private static String asking(String limits) {
        return "containers:\n" + container("cuda", limits);
    }

    private static Pod waiting(String limits) {
        return pod("team-b", "w", asking(limits), "");
    }

    private ExplainerTest runs(
            String namespace, String name, String on, String gpu, String limits) {
        cluster.runs(
                readers.gpuPod(
                        pod(
                                namespace,
                                name,
                                "nodeName: " + on + "\n" + asking(limits),
                                "gpusharing.io/placement: '%s;cuda=%s'"
                                        .formatted(uid(name), gpu))));
        return this;
    }

    private ExplainerTest runsInGroup(String name, String gpu, String limits) {
        String spec = "nodeName: n1\n" + asking(limits);
        String placement = "gpusharing.io/placement: '%s;cuda=%s'".formatted(uid(name), gpu);
        Pod pod = pod("team-b", name, spec, GROUP + ", " + placement);
        readers.hold(groups, pod);
        cluster.runs(readers.gpuPod(pod));
        return this;
    }

    /** Both GPUs have 40 and 8704 MiB left. */
    private ExplainerTest fragmented(String namespace) {
        return shared("n1")
                .runs(namespace, "a", "n1", "GPU-0", SIXTY)
                .runs(namespace, "b", "n1", "GPU-1", SIXTY);
    }

    private Explanation explain(Pod pod) {
        return explain(pod, namespace -> true);
    }

    private Explanation explain(Pod pod, Predicate<String> shown) {
        return new Explainer(
                        new Picture(cluster.snapshot(), GpuNames::isGpu),
                        Cluster.RULES,
                        node -> List.of(),
                        shown)
                .explain(readers.subject(pod, groups), 5);
    }

    private static Nodes nodes(Explanation explanation) {
        return requireNonNull(explanation.nodes());
    }

    private static Room room(Explanation explanation) {
        return requireNonNull(explanation.room());
    }

    private static End end(Explanation explanation) {
        return requireNonNull(explanation.end());
    }

    private static NodeDetail only(Explanation explanation) {
        assertThat(explanation.details()).hasSize(1);
        return explanation.details().getFirst();
    }

    @Test
    void fortyAndFortyAreNotSixtyThoughTheSumIsEnough() {
        Explanation explanation = fragmented("team-c").explain(waiting(SIXTY));

        assertThat(explanation.summary())
                .isEqualTo(
                        "No single GPU has 60 of 100 and 7680 MiB free: of 2 GPUs on 1 node that fit otherwise, most is free of one on n1, 40 of 100 and 8704 MiB; what fits now, on n1: tencent.com/vcuda-core: 40 and tencent.com/vcuda-memory: 30.");
        assertThat(nodes(explanation).onlyInSum()).isEqualTo(1);
        assertThat(only(explanation).sumSuffices()).isTrue();
        assertThat(only(explanation).reason()).isEqualTo("no_room");
        assertThat(only(explanation).gpus())
                .allSatisfy(gpu -> {
                    assertThat(gpu.reason()).isEqualTo("no_room");
                    assertThat(gpu.free().core()).isEqualTo(40);
                    assertThat(gpu.holders()).hasSize(1);
                });
        assertThat(explanation.since()).isEqualTo(Instant.parse("2026-03-02T11:00:00Z"));
    }

    @Test
    void whatFitsIsSaidToFitAndNobodyHasToGo() {
        Explanation explanation = shared("n1").explain(waiting(SIXTY));

        assertThat(explanation.summary())
                .isEqualTo("It fits on n1 as it is, and is tried again within minutes.");
        assertThat(explanation.room()).isNull();
        assertThat(explanation.instead()).isNull();
    }

    private static final SchedulerReach OWN =
            new SchedulerReach(true, new SchedulerName("gpusharing-scheduler"));

    private String summary(String scheduler, boolean isNew) {
        Pod pod = waiting(SIXTY);
        pod.getSpec().setSchedulerName(scheduler);
        return new Explainer(
                        new Picture(cluster.snapshot(), GpuNames::isGpu),
                        Cluster.RULES,
                        node -> List.of(),
                        namespace -> true)
                .explain(readers.subject(pod, groups, OWN, isNew), 5)
                .summary();
    }

    @Test
    void whoWaitsForASchedulerThatGoesBySumsIsToldSo() {
        shared("n1");

        assertThat(summary("default-scheduler", false))
                .startsWith(
                        "It was admitted before GPUSharing's scheduler was given such pods, and waits for the cluster's own, which goes by sums")
                .contains("it is to be deleted and made anew; it fits on n1");
        assertThat(summary("gpusharing-scheduler", false)).startsWith("It fits on n1");
        assertThat(summary("default-scheduler", true))
                .as("admission names ours")
                .startsWith("It fits on n1");
    }

    @Test
    void itSaysWhomReclaimWouldEvict() {
        Explanation explanation = fragmented("team-a").explain(waiting(SIXTY));

        assertThat(room(explanation).decision()).isEqualTo("EVICT");
        assertThat(room(explanation).victims())
                .singleElement()
                .satisfies(victim -> {
                    assertThat(victim.budget()).isEqualTo("team-a");
                    assertThat(victim.why()).contains("over by 5");
                });
        assertThat(room(explanation).gpus()).hasSize(1);
        assertThat(explanation.summary())
                .contains("reclaim would evict 1 pod(s) of budgets that are used up from n1");
    }

    @Test
    void whoIsToShareAGpuWithOthersHasThatOneAlone() {
        Explanation explanation =
                shared("n1")
                        .runsInGroup("first", "GPU-0", SIXTY)
                        .explain(pod("team-b", "w", asking(SIXTY), GROUP));

        assertThat(explanation.summary())
                .isEqualTo(
                        "The GPU of the pods with which it is to share one does not have 60 of 100 and 7680 MiB free: of 1 GPU on 1 node that fit otherwise, most is free of one on n1, 40 of 100 and 8704 MiB; what fits now, on n1: tencent.com/vcuda-core: 40 and tencent.com/vcuda-memory: 30.");
        assertThat(explain(waiting(SIXTY)).summary()).startsWith("It fits on n1");
    }

    @Test
    void whatFitsBesideTheOthersOfItsGroupIsSaidToFit() {
        String some = "tencent.com/vcuda-core: '40', tencent.com/vcuda-memory: '30'";

        Explanation explanation =
                shared("n1")
                        .runsInGroup("first", "GPU-0", SIXTY)
                        .explain(pod("team-b", "w", asking(some), GROUP));

        assertThat(explanation.summary()).startsWith("It fits on n1");
    }

    @Test
    void forWhoIsToShareAGpuWithOthersRoomIsMadeThere() {
        String some = "tencent.com/vcuda-core: '30', tencent.com/vcuda-memory: '20'";

        Explanation explanation =
                shared("n1")
                        .runsInGroup("first", "GPU-0", some)
                        .runs("team-a", "elsewhere", "n1", "GPU-1", SIXTY)
                        .runs("team-a", "beside", "n1", "GPU-0", SIXTY)
                        .explain(pod("team-b", "w", asking(some), GROUP));

        assertThat(room(explanation).victims()).extracting(Victim::name).containsExactly("beside");
    }

    @Test
    void onOtherNodesNothingIsFreeForIt() {
        cluster.replaceNode(
                readers.node(
                        node("n2", ""),
                        Serialization.unmarshal(
                                Serialization.asYaml(gpus("n2", "Healthy", ""))
                                        .replace("GPU-", "GPU-n2-"),
                                GpuNode.class)));
        Explanation explanation =
                shared("n1")
                        .runsInGroup("first", "GPU-0", SIXTY)
                        .explain(pod("team-b", "w", asking(SIXTY), GROUP));

        assertThat(nodes(explanation).why()).isEqualTo(Map.of("no_room_beside", 1, "elsewhere", 1));
    }

    @Test
    void itSaysWhyNobodyWouldGo() {
        Explanation explanation = fragmented("team-c").explain(waiting(SIXTY));

        assertThat(room(explanation).decision()).isEqualTo("NOBODY");
        assertThat(room(explanation).spared()).containsEntry("its budget is InBudget", 2);
    }

    @Test
    void podsOfOthersHaveNoNames() {
        Explanation explanation =
                fragmented("team-a")
                        .explain(waiting(SIXTY), namespace -> namespace.equals("team-b"));

        assertThat(room(explanation).victims())
                .singleElement()
                .extracting(Victim::namespace, Victim::name, Victim::budget, Victim::why)
                .containsOnlyNulls();
        assertThat(only(explanation).gpus())
                .flatExtracting(GpuDetail::holders)
                .hasSize(2)
                .allSatisfy(holder -> {
                    assertThat(holder.name()).isNull();
                    assertThat(holder.namespace()).isNull();
                    assertThat(holder.core()).isEqualTo(60);
                });
        assertThat(explanation.toString()).doesNotContain("team-a");
    }

    @Test
    void whatNamesAPodDisruptionBudgetOfOthersIsSaidWithoutIt() {
        shared("n1");
        for (String name : List.of("a", "b")) {
            cluster.runs(
                    Cluster.pod("team-a", name)
                            .share(60, 7_680)
                            .protectedBy("team-a/keep")
                            .on("n1", name.equals("a") ? 0 : 1));
        }
        cluster.disruptionBudget("team-a/keep", 0);

        Explanation explanation = explain(waiting(SIXTY), namespace -> namespace.equals("team-b"));

        assertThat(room(explanation).decision()).isEqualTo("KEPT");
        assertThat(room(explanation).text()).contains("a PodDisruptionBudget keeps them");
        assertThat(room(explanation).spared())
                .isEqualTo(Map.of("its PodDisruptionBudget lets nobody go now", 2));
        assertThat(explanation.toString()).doesNotContain("team-a");
        assertThat(room(explain(waiting(SIXTY))).spared().toString()).contains("team-a/keep");
    }

    @Test
    void whoMayNotSeeAPodLearnsOfWhatKindTheReasonIsAndNeitherNamesNorInstants() {
        shared("n1");
        cluster.runs(Cluster.pod("team-a", "a").gang("team-a/g").share(60, 7_680).on("n1", 0));
        cluster.runs(
                Cluster.pod("team-a", "b")
                        .gang("team-a/g")
                        .exempt("it is a static pod")
                        .share(60, 7_680)
                        .on("n1", 1));

        assertThat(room(explain(waiting(SIXTY), namespace -> namespace.equals("team-b"))).spared())
                .isEqualTo(
                        Map.of(
                                "goes only together with another, which stays", 1,
                                "it is a static pod", 1));
        assertThat(room(explain(waiting(SIXTY))).spared())
                .containsKey("goes only together with team-a/b, which stays: it is a static pod");
    }

    @Test
    void whenANeighboursBudgetEndsThereMayBeRoom() {
        Instant end = Cluster.NOON.plus(Duration.ofHours(3));
        fragmented("team-d");
        cluster.budget(
                "team-d",
                new Standing.InBudget(GpuTime.ofMinutes("10"), end),
                OnExhausted.Reclaim,
                false);

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(end(explanation).at()).isEqualTo(end);
        assertThat(end(explanation).node()).isEqualTo("n1");
        assertThat(end(explanation).text()).contains("at the present rates");
        assertThat(explanation.summary())
                .endsWith("; not before 2026-03-02T15:00:00Z a budget's end may make room on n1.");
        assertThat(only(explanation).gpus().getFirst().holders())
                .extracting(Holder::budgetEndsAt)
                .containsExactly(end);
    }

    @Test
    void theEndOfABudgetThatEvictsNobodyMakesNoRoom() {
        fragmented("team-d");
        cluster.budget(
                "team-d",
                new Standing.InBudget(
                        GpuTime.ofMinutes("10"), Cluster.NOON.plus(Duration.ofHours(3))),
                OnExhausted.LowerPriority,
                false);

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(explanation.end()).isNull();
        assertThat(only(explanation).gpus().getFirst().holders())
                .extracting(Holder::mayBeEvicted)
                .containsExactly(false);
    }

    @Test
    void roomThatIsKeptForAnotherIsShownAndCountsAsNone() {
        var kept =
                new KeptRoom(
                        uid("other"),
                        0,
                        "n1",
                        List.of(
                                new GpuHold("GPU-0", 60, 1_024, false),
                                new GpuHold("GPU-1", 60, 1_024, false)),
                        Set.of(),
                        Cluster.NOON.plusSeconds(60));
        cluster.waits(readers.waiter(pod("team-c", "other", asking(SIXTY), "")));

        Explanation explanation = shared("n1", kept).explain(waiting(SIXTY));

        assertThat(explanation.summary())
                .startsWith(
                        "What is free of its GPUs is kept for a pod for which others had to go");
        assertThat(only(explanation).reason()).isEqualTo("kept");
        assertThat(only(explanation).gpus())
                .allSatisfy(gpu -> {
                    assertThat(gpu.free().core()).isEqualTo(100);
                    assertThat(gpu.reason()).isEqualTo("kept");
                    assertThat(gpu.kept())
                            .singleElement()
                            .satisfies(room -> {
                                assertThat(room.name()).isEqualTo("other");
                                assertThat(room.yields()).isFalse();
                            });
                });
    }

    @Test
    void anUnhealthyGpuIsOfNoUse() {
        cluster.replaceNode(readers.node(node("n1", ""), gpus("n1", "Unhealthy", "")));

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(explanation.summary()).startsWith("Every GPU of the node is unhealthy");
        assertThat(only(explanation).gpus())
                .allSatisfy(gpu -> {
                    assertThat(gpu.healthy()).isFalse();
                    assertThat(gpu.reason()).isEqualTo("unhealthy");
                });
    }

    @Test
    void aWholeGpuWantsOneThatNobodyHoldsAnyOf() {
        shared("n1").runs("team-c", "a", "n1", "GPU-0", SIXTY);

        Explanation explanation = explain(waiting("tencent.com/vcuda-core: '200'"));

        assertThat(explanation.summary())
                .startsWith("Fewer than 2 GPUs are all free: ")
                .contains("most are idle on n1, 1")
                .contains("what fits now, on n1: tencent.com/vcuda-core: 100");
        assertThat(only(explanation).gpus())
                .extracting(GpuDetail::reason)
                .containsExactly("no_room", null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tencent.com/vcuda-core: '30', tencent.com/vcuda-memory: '40' | tencent.com/vcuda-memory: 34",
                "aliyun.com/gpu-mem: '9' | aliyun.com/gpu-mem: 8"
            })
    void whereMemoryIsShortThatMuchLessFits(String asks, String instead) {
        Explanation explanation = fragmented("team-c").explain(waiting(asks));

        assertThat(explanation.summary()).contains("what fits now, on n1: ").contains(instead);
    }

    @Test
    void memoryThatIsFreeBesideNoProcessorsIsNotOffered() {
        String all = "tencent.com/vcuda-core: '99', tencent.com/vcuda-memory: '10'";
        String rest = "tencent.com/vcuda-core: '1', tencent.com/vcuda-memory: '10'";
        shared("n1");
        for (String gpu : List.of("GPU-0", "GPU-1")) {
            runs("team-c", "a" + gpu, "n1", gpu, all).runs("team-c", "b" + gpu, "n1", gpu, rest);
        }

        assertThat(explain(waiting("aliyun.com/gpu-mem: '12'")).instead()).isNull();
    }

    @Test
    void moreThanAGpuHasIsTooLargeAndWhatOneHasFits() {
        Explanation explanation =
                shared("n1")
                        .explain(
                                waiting(
                                        "tencent.com/vcuda-core: '30', tencent.com/vcuda-memory: '65'"));

        assertThat(explanation.summary())
                .isEqualTo(
                        "No GPU has 30 of 100 and 16640 MiB; what fits now, on n1: tencent.com/vcuda-core: 30 and tencent.com/vcuda-memory: 64.");
        assertThat(room(explanation).decision()).isEqualTo("NO_NODE");
    }

    @Test
    void twoContainersEachNeedTheirOwnPlace() {
        shared("n1").runs("team-c", "a", "n1", "GPU-0", SIXTY);
        Pod two =
                pod(
                        "team-b",
                        "w",
                        "containers:\n" + container("one", SIXTY) + "\n" + container("two", SIXTY),
                        "");

        Explanation explanation = explain(two);

        assertThat(explanation.asks()).hasSize(2);
        assertThat(only(explanation).fits()).isFalse();
        assertThat(only(explanation).gpus())
                .as("one of the two fits on GPU 1")
                .extracting(GpuDetail::reason)
                .containsExactly("no_room", null);
        assertThat(explanation.instead()).as("there are many ways to ask for less").isNull();
    }

    @Test
    void aPodThatAsksForNothingOfOursIsToldSo() {
        Explanation explanation = shared("n1").explain(waiting("nvidia.com/gpu: '1'"));

        assertThat(explanation.summary()).startsWith("It asks for no GPU that GPUSharing places");
        assertThat(explanation.details()).isEmpty();
    }

    @Test
    void aPodThatIsBoundHasItsGpu() {
        shared("n1");
        Pod bound =
                pod(
                        "team-b",
                        "w",
                        "nodeName: n1\n" + asking(SIXTY),
                        "gpusharing.io/placement: '%s;cuda=GPU-1'".formatted(uid("w")));

        Explanation explanation = explain(bound);

        assertThat(explanation.state()).isEqualTo(State.Bound);
        assertThat(explanation.summary())
                .isEqualTo("It is bound to n1 and has 60 of 100 and 7680 MiB of GPU 1 (GPU-1).");
        assertThat(explanation.nodes()).isNull();
    }

    /** As {@link #fragmented} has placed it. */
    private static Pod running(String namespace) {
        return pod(
                namespace,
                "b",
                "nodeName: n1\n" + asking(SIXTY),
                "gpusharing.io/placement: '%s;cuda=GPU-1'".formatted(uid("b")));
    }

    @Test
    void aPodThatReclaimWouldTakeIsToldForWhom() {
        fragmented("team-a");
        cluster.waits(readers.waiter(waiting(SIXTY)));
        Set<String> told =
                Set.of(
                        explain(running("team-a")).summary(),
                        explain(
                                        pod(
                                                "team-a",
                                                "a",
                                                "nodeName: n1\n" + asking(SIXTY),
                                                "gpusharing.io/placement: '%s;cuda=GPU-0'"
                                                        .formatted(uid("a"))))
                                .summary());

        assertThat(told)
                .as("one of the two would go, and the other stay")
                .filteredOn(it ->
                        it.endsWith(
                                "; its budget is used up, and reclaim would evict it for team-b/w, which waits."))
                .hasSize(1);
        assertThat(told).filteredOn(it -> it.contains("reclaim")).hasSize(1);
    }

    @Test
    void whoMayNotSeeThePodThatWaitsIsToldNoNameOfIt() {
        shared("n1").runs("team-a", "b", "n1", "GPU-0,GPU-1", "tencent.com/vcuda-core: '200'");
        cluster.waits(readers.waiter(waiting(SIXTY)));
        Pod all =
                pod(
                        "team-a",
                        "b",
                        "nodeName: n1\n" + asking("tencent.com/vcuda-core: '200'"),
                        "gpusharing.io/placement: '%s;cuda=GPU-0,GPU-1'".formatted(uid("b")));

        assertThat(explain(all, namespace -> namespace.equals("team-a")).summary())
                .endsWith("reclaim would evict it for a pod of another namespace, which waits.")
                .doesNotContain("team-b");
    }

    @Test
    void aPodInBudgetAndOneForWhomNobodyWaitsAreToldNothingOfReclaim() {
        fragmented("team-a");
        assertThat(explain(running("team-a")).summary()).doesNotContain("reclaim");

        cluster.waits(readers.waiter(waiting(SIXTY)));
        assertThat(explain(running("team-c")).summary()).doesNotContain("reclaim");
    }

    @Test
    void withoutAnyGpuNodeNothingIsShared() {
        cluster.replaceNode(readers.node(node("n1", "")));

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(explanation.summary())
                .startsWith("No node that fits otherwise has GPUs that GPUSharing shares");
        assertThat(only(explanation).gpus()).isEmpty();
    }

    @Test
    void aNodeThatATaintKeepsAwayIsCountedAndNotShown() {
        cluster.replaceNode(
                readers.node(
                        node("n1", "spec: {taints: [{key: x, effect: NoSchedule}]}"),
                        gpus("n1", "Healthy", "")));

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(explanation.summary())
                .startsWith(
                        "No node fits otherwise: 1: its selector, affinity or a taint keeps it away");
        assertThat(explanation.details()).isEmpty();
    }

    @Test
    void aGpuIsOfNoUseWhereTheNodesSumIsShort() {
        Node node = node("n1", "");
        // One of the two failed while a pod had all of it.
        node.getStatus().getAllocatable().put("tencent.com/vcuda-core", new Quantity("100"));
        cluster.replaceNode(readers.node(node, gpus("n1", "Healthy", "")));
        runs("team-c", "a", "n1", "GPU-0", "tencent.com/vcuda-core: '100'");

        Explanation explanation = explain(waiting(SIXTY));

        assertThat(nodes(explanation).fit()).isZero();
        assertThat(explanation.summary()).contains("too little is free of tencent.com/vcuda-core");
        assertThat(explanation.instead()).isNull();
    }

    @Test
    void whenABudgetOfOthersEndsIsSaidToWhoMayGetTheirPods() {
        fragmented("team-d");
        cluster.budget(
                "team-d",
                new Standing.InBudget(
                        GpuTime.ofMinutes("10"), Cluster.NOON.plus(Duration.ofHours(3))),
                OnExhausted.Reclaim,
                false);

        assertThat(only(explain(waiting(SIXTY), namespace -> false)).gpus().getFirst().holders())
                .extracting(Holder::budgetEndsAt)
                .containsOnlyNulls();
    }

    @Test
    void whatIsShortBesideGpusIsNamed() {
        Explanation explanation = shared("n1").explain(waiting(SIXTY + ", cpu: '9'"));

        assertThat(nodes(explanation).otherwise()).containsEntry("too little is free of cpu", 1);
    }
}
