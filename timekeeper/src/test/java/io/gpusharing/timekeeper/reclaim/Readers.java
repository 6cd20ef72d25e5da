package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.timekeeper.allocation.PodReader;
import io.gpusharing.timekeeper.reclaim.GpuPodReader.Ending;
import io.gpusharing.timekeeper.reclaim.explain.Subject;
import io.gpusharing.timekeeper.reclaim.snapshot.GpuPod;
import io.gpusharing.timekeeper.reclaim.snapshot.NodeView;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All readers of a snapshot, as they work together. */
final class Readers {

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final CapacityReader capacity;
    private final GpuPodReader gpuPods;

    Readers(RequestGrammars grammars) {
        this(grammars, "");
    }

    Readers(RequestGrammars grammars, String gangLabel) {
        this(grammars, gangLabel, PodSharing.NONE);
    }

    Readers(RequestGrammars grammars, String gangLabel, PodSharing sharing) {
        this.grammars = grammars;
        this.pods = new PodReader(grammars::reads);
        this.capacity =
                new CapacityReader(
                        grammars,
                        new ProviderAsk(MetagpuGrammar.units(Map.of("site/metagpu", 4))),
                        sharing);
        this.gpuPods = new GpuPodReader(grammars, capacity, gangLabel);
    }

    NodeView node(Node node) {
        return capacity.node(node, null, List.of());
    }

    NodeView node(Node node, GpuNode gpus, KeptRoom... kept) {
        return capacity.node(
                node, SharedNode.of(gpus.getMetadata().getName(), gpus.getStatus()), List.of(kept));
    }

    boolean waits(Pod pod) {
        return WaiterReader.waits(pod, pods.read(pod));
    }

    boolean holds(Pod pod) {
        return GpuPodReader.holds(pods.read(pod));
    }

    Waiter waiter(Pod pod) {
        return new WaiterReader(capacity).read(pod, pods.read(pod));
    }

    GpuPod gpuPod(Pod pod) {
        return gpuPod(pod, Map.of(), new Ending(Instant.MIN, Instant.MAX));
    }

    GpuPod gpuPod(Pod pod, Map<String, String> namespaceAnnotations, Ending ending) {
        return gpuPods.read(
                pod, pods.read(pod), namespaceAnnotations, Set.of(), NodeFacts.UNKNOWN, ending);
    }

    Subject subject(Pod pod, GroupGpus groups) {
        return new SubjectReader(grammars, capacity).read(pod, false, groups, Cluster.NOON);
    }

    /** As by default. */
    static ReclaimProperties properties(boolean reserve) {
        return properties(reserve, null);
    }

    /** As by default, but with the right to delete. */
    static ReclaimProperties insistingAfter(Duration time) {
        return properties(true, time);
    }

    private static ReclaimProperties properties(boolean reserve, @Nullable Duration insistAfter) {
        return new ReclaimProperties(
                false,
                Duration.ofSeconds(10),
                Duration.ofMinutes(1),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                10,
                Duration.ofHours(24),
                Duration.ofMinutes(5),
                insistAfter,
                "",
                reserve,
                null);
    }
}
