package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.explaining.Subject;
import io.gpusharing.scheduler.explaining.SubjectReader;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.scheduler.picture.reading.KnownHolder.HolderReader;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.reclaiming.Cluster;
import io.gpusharing.sharing.ProviderAsk;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** All readers of a snapshot, as they work together. */
public final class Readers {

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final CapacityReader capacity;
    private final HolderReader holders;

    /** Nobody places pods, and all schedulers go by sums. */
    private final SchedulerReach reach = new SchedulerReach(false, new SchedulerName(""));

    public Readers(RequestGrammars grammars) {
        this(grammars, Gangs.OF_JOBS);
    }

    public Readers(RequestGrammars grammars, Gangs gangs) {
        this(grammars, gangs, PodSharing.NONE);
    }

    public Readers(RequestGrammars grammars, Gangs gangs, PodSharing sharing) {
        this.grammars = grammars;
        this.pods = new PodReader(grammars::reads);
        this.capacity =
                new CapacityReader(
                        grammars,
                        new ProviderAsk(MetagpuGrammar.units(Map.of("site/metagpu", 4))),
                        sharing);
        this.holders = new HolderReader(capacity, gangs, -100);
    }

    public NodeView node(Node node) {
        return capacity.node(node).with(null, List.of());
    }

    public NodeView node(Node node, GpuNode gpus, KeptRoom... kept) {
        return capacity.node(node)
                .with(SharedNode.of(gpus.getMetadata().getName(), gpus.getStatus()), List.of(kept));
    }

    public boolean waits(Pod pod) {
        return WaiterReader.waits(pod, pods.read(pod));
    }

    public boolean holds(Pod pod) {
        return HolderReader.holds(pods.read(pod));
    }

    public Waiter waiter(Pod pod) {
        return new WaiterReader(capacity, reach).read(pod, pods.read(pod));
    }

    public Holder gpuPod(Pod pod) {
        return gpuPod(pod, Map.of(), new Ending(Instant.MIN, Instant.MAX));
    }

    public Holder gpuPod(Pod pod, Map<String, String> namespaceAnnotations, Ending ending) {
        return known(pod)
                .at(
                        NodeFacts.UNKNOWN,
                        grammars,
                        "true".equals(namespaceAnnotations.get(Names.DO_NOT_RECLAIM_ANNOTATION)),
                        Set.of(),
                        ending);
    }

    KnownHolder known(Pod pod) {
        return holders.read(pod, pods.read(pod));
    }

    /** As the API server sends it. */
    public static Pod pod(String json) {
        return LeanObjects.serialization().unmarshal(json, Pod.class);
    }

    /** All of a group are known: this bound pod alone. */
    public void hold(GroupGpus group, Pod pod) {
        holds(group, pod);
        group.complete(Map.of(), List.of());
    }

    void holds(GroupGpus groups, Pod pod) {
        groups.holds(Objects.requireNonNull(GroupGpus.group(pod, null, known(pod))), gpuPod(pod));
    }

    void waits(GroupGpus groups, Pod pod) {
        groups.waits(Objects.requireNonNull(GroupGpus.group(pod, waiter(pod), null)), waiter(pod));
    }

    public Subject subject(Pod pod, GroupGpus groups) {
        return subject(pod, groups, reach, false);
    }

    public Subject subject(
            Pod pod, GroupGpus groups, SchedulerReach schedulerReach, boolean isNew) {
        return new SubjectReader(grammars, capacity, schedulerReach)
                .read(pod, isNew, groups, Cluster.NOON);
    }
}
