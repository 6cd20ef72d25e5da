package io.gpusharing.scheduler.reclaiming;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.reading.Readers;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class HamiReclaimTest {

    private static final String ALLOCATED = "hami.io/vgpu-devices-allocated";

    /** A node of two GPUs, as HAMi registers it, each with a pod that holds 10 000 MiB. */
    @Test
    void evictsFromTheGpuThatCanBecomeFreeEnough() {
        var readers = new Readers(RequestGrammars.of(List.of("hami"), List.of()));
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
        Waiter waiter = readers.waiter(pod("team-b", "w", "12000", ""));
        Cluster cluster =
                new Cluster()
                        .replaceNode(readers.node(node))
                        .within("team-b")
                        .within("team-c")
                        .over("team-a", 5)
                        .waits(waiter)
                        .runs(readers.gpuPod(pod("team-c", "stays", "10000", "GPU-0")))
                        .runs(readers.gpuPod(pod("team-a", "goes", "10000", "GPU-1")));

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
    void nothingIsEvictedForAPartThatNoNodeOffers() {
        var readers = new Readers(RequestGrammars.of(List.of("nvidia", "hami"), List.of()));
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
                        .replaceNode(readers.node(node))
                        .within("team-b")
                        .over("team-a", 5)
                        .waits(readers.waiter(pod("team-b", "w", "12000", "")))
                        .runs(readers.gpuPod(pod("team-a", "stays", "10000", "GPU-0")));

        assertThat(cluster.decide()).isNotInstanceOf(Evict.class);
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
