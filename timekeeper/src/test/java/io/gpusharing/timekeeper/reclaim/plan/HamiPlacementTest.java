package io.gpusharing.timekeeper.reclaim.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.reclaim.Cluster;
import io.gpusharing.timekeeper.reclaim.PodTranslation;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HamiPlacementTest {

    private static final String REGISTER =
            """
            [{"id":"GPU-0","count":10,"devmem":16384,"devcore":100,"type":"NVIDIA-A16","numa":0,"mode":"hami-core","health":true},
             {"id":"GPU-1","count":10,"devmem":16384,"devcore":100,"type":"NVIDIA-A16","numa":0,"health":true}]
            """;
    private static final String ALLOCATED = "hami.io/vgpu-devices-allocated";
    private static final Gpu FIRST = new Gpu("GPU-0", 100, 16384);
    private static final Gpu SECOND = new Gpu("GPU-1", 100, 16384);

    private static @Nullable GpuLayout node(String... annotations) {
        return HamiPlacement.layout(map(annotations));
    }

    private static List<Gpu> gpus(String... annotations) {
        return Objects.requireNonNull(node(annotations)).gpus();
    }

    private static Map<String, String> map(String... entries) {
        var map = new HashMap<String, String>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put(entries[i], entries[i + 1]);
        }
        return map;
    }

    private static Container container(String... limits) {
        var amounts = new HashMap<String, Quantity>();
        map(limits)
                .forEach((name, amount) ->
                        amounts.put("nvidia.com/" + name, Quantity.parse(amount)));
        return new ContainerBuilder()
                .withName("cuda")
                .withNewResources()
                .withLimits(amounts)
                .endResources()
                .build();
    }

    @Test
    void readsTheRegisterOfANodeInBothItsShapes() {
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER)).containsExactly(FIRST, SECOND);
        assertThat(
                        gpus(
                                "hami.io/node-nvidia-register",
                                "GPU-0,10,16384,100,NVIDIA-A16,0,true:GPU-1,10,16384,100,NVIDIA-A16,0,true:"))
                .containsExactly(FIRST, SECOND);
    }

    @Test
    void leavesOutGpusThatMayNotBeUsed() {
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER, "hami.io/device-cordon", "GPU-0"))
                .containsExactly(SECOND);
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER.replaceFirst("true", "false")))
                .containsExactly(SECOND);
    }

    @Test
    void knowsNothingOfWhatItCannotReadOrOfMig() {
        assertThat(node()).isNull();
        assertThat(node("hami.io/node-nvidia-register", "[{\"id\":")).isNull();
        assertThat(node("hami.io/node-nvidia-register", "GPU-0,ten:")).isNull();
        assertThat(node("hami.io/node-nvidia-register", REGISTER.replace("hami-core", "mig")))
                .isNull();
    }

    @Test
    void asksAsHamiUnderstandsIt() {
        assertThat(
                        HamiPlacement.asks(
                                List.of(
                                        container("gpu", "2"),
                                        container("gpumem", "4096", "gpucores", "30"),
                                        container("gpu", "1", "gpumem-percentage", "50"),
                                        container("gpu", "1", "gpumem", "100", "gpucores", "100"),
                                        container())))
                .containsExactly(
                        new GpuAsk(2, 100, 0, true),
                        new GpuAsk(1, 30, 4096, false),
                        new GpuAsk(1, 0, 0, 50, false),
                        new GpuAsk(1, 100, 0, true));
    }

    @Test
    void readsWhatAPodHoldsOfWhichGpu() {
        List<Container> two =
                List.of(
                        container("gpu", "2", "gpumem", "3000"),
                        container(),
                        container("gpu", "1"));

        assertThat(
                        HamiPlacement.holds(
                                two,
                                Map.of(
                                        ALLOCATED,
                                        "GPU-0,NVIDIA,3000,0:GPU-1,NVIDIA,3000,0:;GPU-2,NVIDIA,16384,100:;")))
                .containsExactly(
                        new GpuHold("GPU-0", 0, 3000, false),
                        new GpuHold("GPU-1", 0, 3000, false),
                        new GpuHold("GPU-2", 100, 16384, true));
    }

    @Test
    void aPodThatDoesNotTellAllOfItTellsNothing() {
        List<Container> one = List.of(container("gpu", "2"));

        assertThat(HamiPlacement.holds(one, Map.of())).isNull();
        assertThat(HamiPlacement.holds(one, Map.of(ALLOCATED, "GPU-0,NVIDIA,1,1:;"))).isNull();
        assertThat(HamiPlacement.holds(one, Map.of(ALLOCATED, "GPU-0,NVIDIA,much,1:;"))).isNull();
    }

    @Test
    void doesNotJudgeWhoChoosesAmongGpus() {
        assertThat(HamiPlacement.unjudged(List.of(), Map.of("nvidia.com/use-gputype", "A100")))
                .isEqualTo("it chooses among GPUs by nvidia.com/use-gputype");
        assertThat(HamiPlacement.unjudged(List.of(container("gpu", "1")), Map.of()))
                .isEqualTo("its init containers ask for GPUs");
        assertThat(HamiPlacement.unjudged(List.of(container()), Map.of())).isNull();
    }

    /** A node of two GPUs, as HAMi tells of it, each with a pod that holds 10 000 MiB. */
    @Test
    void makesRoomOnTheGpuThatCanBecomeFreeEnough() {
        var translation = new PodTranslation(RequestGrammars.of(List.of("hami"), List.of()), "");
        Node node =
                Serialization.unmarshal(
                        """
                        apiVersion: v1
                        kind: Node
                        metadata:
                          name: n1
                          annotations:
                            hami.io/node-nvidia-register: 'GPU-0,10,16384,100,A16,0,true:GPU-1,10,16384,100,A16,0,true:'
                        status: {allocatable: {nvidia.com/gpu: "20", pods: "110"}}
                        """,
                        Node.class);
        Waiter waiter = translation.waiter(pod("team-b", "w", "12000", ""));
        Cluster cluster =
                new Cluster()
                        .replaceNode(translation.node(node))
                        .within("team-b")
                        .within("team-c")
                        .over("team-a", 5)
                        .waits(waiter)
                        .runs(gpuPod(translation, pod("team-c", "stays", "10000", "GPU-0")))
                        .runs(gpuPod(translation, pod("team-a", "goes", "10000", "GPU-1")));

        assertThat(cluster.decide())
                .isInstanceOfSatisfying(
                        Evict.class,
                        it ->
                                assertThat(it.victims())
                                        .extracting(Victim::pod)
                                        .extracting(PodRef::name)
                                        .containsExactly("goes"));
    }

    @Test
    void nobodyGoesForAPartThatNoNodeHandsOut() {
        var translation =
                new PodTranslation(RequestGrammars.of(List.of("nvidia", "hami"), List.of()), "");
        Node node =
                Serialization.unmarshal(
                        """
                        apiVersion: v1
                        kind: Node
                        metadata: {name: n1}
                        status: {allocatable: {nvidia.com/gpu: "1", pods: "110"}}
                        """,
                        Node.class);
        Cluster cluster =
                new Cluster()
                        .replaceNode(translation.node(node))
                        .within("team-b")
                        .over("team-a", 5)
                        .waits(translation.waiter(pod("team-b", "w", "12000", "")))
                        .runs(gpuPod(translation, pod("team-a", "stays", "10000", "GPU-0")));

        assertThat(cluster.decide()).isNotInstanceOf(Evict.class);
    }

    private static GpuPod gpuPod(PodTranslation translation, Pod pod) {
        return translation.gpuPod(
                pod,
                namespace -> Map.of(),
                Set.of(),
                NodeFacts.UNKNOWN,
                new PodTranslation.Ending(Instant.MIN, Instant.MAX));
    }

    private static Pod pod(String namespace, String name, String mebibytes, String gpu) {
        Instant since = Cluster.NOON.minus(Duration.ofHours(1));
        boolean bound = !gpu.isEmpty();
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
                    resources: {limits: {nvidia.com/gpu: "1", nvidia.com/gpumem: "%s"}}
                status:
                  conditions:
                  - {type: PodScheduled, status: "%s", reason: Unschedulable, lastTransitionTime: "%s"}
                """
                        .formatted(
                                name,
                                namespace,
                                UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)),
                                since,
                                bound
                                        ? "\"%s\": \"%s,NVIDIA,%s,0:;\""
                                                .formatted(ALLOCATED, gpu, mebibytes)
                                        : "",
                                bound ? "nodeName: n1" : "priority: 0",
                                mebibytes,
                                bound ? "True" : "False",
                                since),
                Pod.class);
    }
}
