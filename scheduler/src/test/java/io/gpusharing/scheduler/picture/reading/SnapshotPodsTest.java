package io.gpusharing.scheduler.picture.reading;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader.SnapshotPods;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotPodsTest {

    private static final String WAITING =
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: train
              namespace: team-b
              uid: 0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10
              creationTimestamp: "2026-03-02T11:59:00Z"
            spec:
              priority: 0
              nodeSelector: {gpu: a100}
              initContainers:
              - name: fetch
                resources: {requests: {cpu: "3"}}
              - name: gpusharing-sidecar
                restartPolicy: Always
                resources: {requests: {cpu: 10m}}
              containers:
              - name: cuda
                resources:
                  limits: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
                  requests: {cpu: 500m, tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
            status:
              phase: Pending
              conditions:
              - type: PodScheduled
                status: "False"
                reason: Unschedulable
                message: 0/2 nodes are available
                lastTransitionTime: "2026-03-02T12:00:00Z"
            """;

    private static final String RUNNING =
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: w-0
              namespace: team-a
              uid: 1c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10
              creationTimestamp: "2026-03-02T11:59:00Z"
              labels: {gpusharing.io/metered: "true", group: g1}
              annotations: {tencent.com/predicate-gpu-idx-1: "1"}
              ownerReferences:
              - {apiVersion: batch/v1, kind: Job, name: w, uid: job-uid, controller: true}
            spec:
              nodeName: n1
              priority: 0
              terminationGracePeriodSeconds: 90
              containers:
              - name: log
              - name: cuda
                resources:
                  limits: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
                  requests: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
            status:
              phase: Running
              conditions:
              - type: PodScheduled
                status: "True"
                lastTransitionTime: "2026-03-02T12:00:00Z"
            """;

    private static final Ending ENDING =
            new Ending(
                    Instant.parse("2026-03-02T12:54:00Z"), Instant.parse("2026-03-02T13:00:00Z"));

    private static final RequestGrammars VCUDA = new RequestGrammars(List.of(new VcudaGrammar()));

    private final Readers readers = new Readers(VCUDA);

    private static Pod pod(String yaml) {
        return Serialization.unmarshal(yaml, Pod.class);
    }

    private Holder gpuPod(String yaml) {
        return readers.gpuPod(pod(yaml), Map.of(), ENDING);
    }

    @Test
    void aPodIsTheSameUntilSomethingOfItChanges() {
        KnownHolder known = readers.known(pod(RUNNING));
        Holder first = known.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), ENDING);

        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), ENDING)).isSameAs(first);
        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, true, Set.of(), ENDING).exemption())
                .isNotNull();
        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), ENDING)).isEqualTo(first);
        Set<String> guarding = Set.of("team-a/all");
        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, false, guarding, ENDING).disruptionBudgets())
                .isEqualTo(guarding);
        var labelled = new NodeFacts(Map.of(), Map.of("gpu", "a100"));
        assertThat(known.at(labelled, VCUDA, false, guarding, ENDING))
                .isNotSameAs(known.at(NodeFacts.UNKNOWN, VCUDA, false, guarding, ENDING));
    }

    @Test
    void aPodThatEndsIsLookedAtEachTime() {
        Pod deleted = pod(RUNNING);
        deleted.getMetadata().setDeletionTimestamp("2026-03-02T12:55:00Z");
        KnownHolder known = readers.known(deleted);
        var later = new Ending(ENDING.overdue().plusSeconds(120), ENDING.awaited());

        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), ENDING).leaving()).isTrue();
        assertThat(known.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), later).leaving()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"512, 1", "513, 513"})
    void aGangOfMoreThanOnePlanEndsIsNone(int members, int gangs) {
        var known =
                new KnownPods(
                        VCUDA,
                        new CapacityReader(VCUDA, new ProviderAsk(Map.of()), PodSharing.NONE),
                        Gangs.OF_JOBS,
                        new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                        -100);
        for (int i = 0; i < members; i++) {
            known.onUpdate(pod(RUNNING.replace("0a6f4b4b2f10", "%012d".formatted(i))));
        }
        var pods =
                new SnapshotPods(
                        known.all(),
                        it -> it.at(NodeFacts.UNKNOWN, VCUDA, false, Set.of(), ENDING));

        assertThat(pods.gpuPods().stream().map(Holder::gang).distinct()).hasSize(gangs);
    }

    @Test
    void readsSinceWhenAPodWaits() {
        assertThat(readers.waits(pod(WAITING))).isTrue();
        assertThat(readers.waiter(pod(WAITING)).since())
                .isEqualTo(Instant.parse("2026-03-02T12:00:00Z"));
    }

    @Test
    void countsWhatTheSchedulerCounts() {
        Amounts requests = readers.waiter(pod(WAITING)).ask().requests();

        // The init step is larger than everything that runs later; the sidecar starts after it.
        assertThat(requests.of("cpu")).isEqualByComparingTo(new BigDecimal("3"));
        assertThat(requests.of("tencent.com/vcuda-core")).isEqualByComparingTo("50");
        assertThat(requests.of("pods")).isEqualByComparingTo("1");
    }

    @Test
    void whatPodsMayHaveWithoutAskingForItIsReadHoweverHuge() {
        String huge = WAITING.replace("limits: {tencent", "limits: {cpu: \"9e999\", tencent");

        assertThat(readers.waiter(pod(huge)).ask().requests().of("cpu")).isEqualByComparingTo("3");
        assertThat(readers.subject(pod(huge), new GroupGpus()).waiter().ask().gpus()).hasSize(1);
    }

    @Test
    void aPodThatIsToEndInTheYearTenThousandIsRead() {
        String deleted =
                RUNNING.replace(
                        "  name: w-0",
                        "  name: w-0\n  deletionTimestamp: \"10000-01-01T00:59:59Z\"");

        assertThat(gpuPod(deleted).leaving()).isFalse();
    }

    @Test
    void asksForOneGpuPerFraction() {
        assertThat(readers.waiter(pod(WAITING)).ask().gpus())
                .containsExactly(new GpuAsk(1, 50, 30, false));
    }

    @Test
    void aPodThatWasNotTriedYetDoesNotWait() {
        assertThat(readers.waits(pod(WAITING.replace("Unschedulable", "SchedulingGated"))))
                .isFalse();
    }

    @Test
    void readsSinceWhenAndHowAPodHoldsItsShare() {
        Holder gpuPod = gpuPod(RUNNING);

        assertThat(gpuPod.since()).isEqualTo(Instant.parse("2026-03-02T12:00:00Z"));
        assertThat(gpuPod.share()).isEqualTo(500_000);
        assertThat(gpuPod.hold().gpus()).containsExactly(new GpuHold("1", 50, 30, false));
        assertThat(gpuPod.gang()).isEqualTo("team-a/job/job-uid");
        assertThat(gpuPod.grace()).hasSeconds(90);
        assertThat(gpuPod.exemption()).isNull();
    }

    @Test
    void aLabelCanNameTheGang() {
        Readers labelled = new Readers(VCUDA, new Gangs(List.of("group"), Set.of("Job")));

        assertThat(labelled.gpuPod(pod(RUNNING)).gang()).isEqualTo("team-a/group=g1");
    }

    @Test
    void withoutItsAnnotationTheGpuThatAPodHoldsIsUnknown() {
        assertThat(gpuPod(RUNNING.replace("idx-1", "idx-7")).hold().gpus()).isNull();
    }

    @Test
    void aPodThatHasEndedHoldsNothing() {
        assertThat(readers.holds(pod(RUNNING.replace("Running", "Succeeded")))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DaemonSet", "Node"})
    void aForgeableOwnerExemptsNoPod(String kind) {
        assertThat(gpuPod(RUNNING.replace("kind: Job", "kind: " + kind)).exemption()).isNull();
    }

    @Test
    void aStaticPodIsExempt() {
        String mirror =
                RUNNING.replace("kind: Job", "kind: Node")
                        .replace(
                                "annotations: {",
                                "annotations: {kubernetes.io/config.mirror: 1f, ");

        assertThat(gpuPod(mirror).exemption()).contains("from a file");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-03-02T12:59:59Z, 30, true, 90",
        "2026-03-02T13:00:00Z, 30, true, 90",
        "2027-03-02T12:59:59Z, 31536000, false, 31536000"
    })
    void aPodWithAYearsGraceIsNotTerminating(
            String ends, String given, boolean leaving, long grace) {
        String deleted =
                RUNNING.replace(
                        "  name: w-0",
                        "  name: w-0\n  deletionTimestamp: \"%s\"\n  deletionGracePeriodSeconds: %s"
                                .formatted(ends, given));

        assertThat(gpuPod(deleted).leaving()).isEqualTo(leaving);
        assertThat(gpuPod(deleted).grace()).hasSeconds(grace);
    }

    @ParameterizedTest
    @CsvSource({"2026-03-02T12:54:00Z, true", "2026-03-02T12:53:59Z, false"})
    void aPodThatOutlivedItsGraceIsNeitherTerminatingNorAVictim(String ends, boolean leaving) {
        String deleted =
                RUNNING.replace(
                        "  name: w-0", "  name: w-0\n  deletionTimestamp: \"" + ends + "\"");

        Holder gpuPod = gpuPod(deleted);

        assertThat(gpuPod.leaving()).isEqualTo(leaving);
        assertThat(gpuPod.exemption() == null).isEqualTo(leaving);
        assertThat(gpuPod.gang().equals(gpuPod(RUNNING).gang()))
                .as("it protects no pod of its gang")
                .isEqualTo(leaving);
    }

    @Nested
    class Exempts {

        @Test
        void podsThatAnAdministratorAnnotated() {
            String annotated =
                    RUNNING.replace(
                            "annotations: {",
                            "annotations: {gpusharing.io/do-not-reclaim: \"true\", ");

            assertThat(gpuPod(annotated).exemption()).contains("do-not-reclaim");
        }

        @Test
        void allPodsOfAnAnnotatedNamespace() {
            Holder gpuPod =
                    readers.gpuPod(
                            pod(RUNNING), Map.of("gpusharing.io/do-not-reclaim", "true"), ENDING);

            assertThat(gpuPod.exemption()).contains("namespace");
        }

        @Test
        void podsOfTheClusterItself() {
            Holder gpuPod = gpuPod(RUNNING.replace("priority: 0", "priority: 2000000000"));

            assertThat(gpuPod.exemption()).contains("class");
        }

        @Test
        void aPodThatBypassedTheWebhookIsNotExempt() {
            assertThat(gpuPod(RUNNING.replace("metered: \"true\"", "app: mine")).exemption())
                    .isNull();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0/2 nodes are available | node(s) had volume node affinity conflict | volume",
                "priority: 0 | topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}] | spread",
                "priority: 0 | affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}} | affinity",
                "priority: 0 | resourceClaims: [{name: gpu}] | claims",
                "- name: cuda | - {name: web, ports: [{containerPort: 80, hostPort: 80}]} | ports"
            })
    void doesNotJudgeWhatItCannotSee(String usual, String special, String why) {
        String text = special.startsWith("- {") ? special + "\n  " + usual : special;

        assertThat(readers.waiter(pod(WAITING.replace(usual, text))).unjudged()).contains(why);
    }

    private static String many(int times, String each) {
        return IntStream.range(0, times)
                .mapToObj(i -> each.replace("%d", String.valueOf(i)))
                .collect(joining(", "));
    }

    static Stream<String> endless() {
        String terms =
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
                        + " {nodeSelectorTerms: [%s]}}}\n  ";
        String values = "{matchExpressions: [{key: a, operator: In, values: [%s]}]}";
        return Stream.of(
                        terms.formatted(values.formatted(many(1_000, "v%d"))),
                        terms.formatted(values.formatted("v".repeat(20_000))),
                        terms.formatted(many(1_000, "{}")),
                        "tolerations: [%s]\n  ".formatted(many(1_000, "{operator: Exists}")),
                        "overhead: {%s}\n  ".formatted(many(1_000, "a.b/c%d: 1")))
                .map(endless -> WAITING.replace("nodeSelector:", endless + "nodeSelector:"));
    }

    @ParameterizedTest
    @MethodSource("endless")
    void whatAWaiterSaysOfItsPlaceWithoutEndIsNotKeptAndNobodyGoesForIt(String endless) {
        Waiter waiter = readers.waiter(pod(endless));

        assertThat(waiter.toString()).hasSizeLessThan(1_000);
        assertThat(waiter.unjudged()).contains("more about its place");
    }

    @Test
    void whatAPodNamesAndDoesNotAskForIsNotKept() {
        String nothing = "resources: {requests: {%s}}".formatted(many(1_000, "a.b/c%d: 0"));

        Waiter waiter =
                readers.waiter(
                        pod(WAITING.replace("resources: {requests: {cpu: \"3\"}}", nothing)));
        Holder gpuPod = gpuPod(RUNNING.replace("- name: log", "- name: log\n    " + nothing));

        assertThat(waiter.unjudged()).isNull();
        assertThat(waiter.toString()).hasSizeLessThan(1_000);
        assertThat(gpuPod.toString()).hasSizeLessThan(1_000);
    }
}
