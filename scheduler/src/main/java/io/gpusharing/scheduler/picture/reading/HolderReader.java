package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.pods.PodEnd;
import io.gpusharing.scheduler.pods.Priorities;
import io.gpusharing.sharing.Amounts;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a pod that holds resources of a node, and whether it may be evicted. */
final class HolderReader {

    /** Every pod needs one of its node's pod slots, so that none fits where all are taken. */
    private static final Amounts EVERY_SLOT =
            new Amounts(Map.of("pods", BigDecimal.valueOf(Integer.MAX_VALUE)));

    private static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

    private final RequestGrammars grammars;
    private final CapacityReader capacity;
    private final Gangs gangs;

    HolderReader(RequestGrammars grammars, CapacityReader capacity, Gangs gangs) {
        this.grammars = grammars;
        this.capacity = capacity;
        this.gangs = gangs;
    }

    /** Whether it has a claim on a node, and none to be bound any more. */
    static boolean holds(PodFacts facts) {
        return node(facts) != null && !facts.lifecycle().terminal();
    }

    /**
     * @param namespaceAnnotations those of its namespace
     * @param disruptions PodDisruptionBudgets that select the pod
     * @param node what is known of the pod's node
     * @param ending when a pod that is being deleted counts as leaving
     */
    Holder read(
            Pod pod,
            PodFacts facts,
            Map<String, String> namespaceAnnotations,
            Set<String> disruptions,
            NodeFacts node,
            Ending ending) {
        long share =
                facts.asked(node, grammars)
                        .map(BoundShare::share)
                        .map(it -> Math.max(it.compute(), it.memory()))
                        .orElse(0L);
        return new Holder(
                PodRef.of(facts),
                Objects.requireNonNull(node(facts)),
                requireNonNullElse(facts.lifecycle().scheduled(), facts.lifecycle().created()),
                facts.placement().priority(),
                share,
                capacity.hold(pod, share > 0),
                ending.isOverdue(PodEnd.of(pod)) ? pod.getMetadata().getUid() : gangs.of(pod),
                ending.isAwaited(PodEnd.of(pod)),
                exemption(pod, facts, namespaceAnnotations, ending),
                disruptions,
                PodEnd.of(pod),
                PodEnd.grace(pod));
    }

    /**
     * What a pod that cannot be read counts for: it fills its node, and no eviction there would be
     * of use to anybody. Empty for one that is not bound, or has ended.
     */
    static Optional<Holder> filling(Pod pod) {
        String node = pod.getSpec().getNodeName();
        if (node == null || PodPhase.hasEnded(pod)) {
            return Optional.empty();
        }
        ObjectMeta meta = pod.getMetadata();
        return Optional.of(
                new Holder(
                        new PodRef(meta.getUid(), meta.getNamespace(), meta.getName()),
                        node,
                        Instant.EPOCH,
                        // The scheduler can preempt it for nobody, as far as is known here.
                        Integer.MAX_VALUE,
                        0,
                        new PodHold(EVERY_SLOT, List.of(), List.of()),
                        meta.getUid(),
                        false,
                        "it cannot be read",
                        Set.of(),
                        null,
                        PodEnd.grace(pod)));
    }

    /** Where it is bound, or where the scheduler makes room for it. */
    private static @Nullable String node(PodFacts facts) {
        String node = facts.placement().node();
        return node == null ? facts.placement().nominatedNode() : node;
    }

    private static @Nullable String exemption(
            Pod pod, PodFacts facts, Map<String, String> namespaceAnnotations, Ending ending) {
        if ("true".equals(facts.annotations().get(Names.DO_NOT_RECLAIM_ANNOTATION))) {
            return "it is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION;
        }
        if ("true".equals(namespaceAnnotations.get(Names.DO_NOT_RECLAIM_ANNOTATION))) {
            return "its namespace is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION;
        }
        // A pod without our label is no exception: the sweep charges it, and who could slip a whole
        // GPU past the webhook would keep it for ever.
        if (facts.placement().node() == null) {
            return "it does not run yet";
        }
        if (ending.isOverdue(PodEnd.of(pod))) {
            return "its kubelet has not ended it, though its grace is over";
        }
        if (Priorities.isOfCluster(facts.placement().priority())) {
            return "its class belongs to the cluster";
        }
        return isStatic(pod, facts) ? "its node's kubelet runs it from a file" : null;
    }

    // Anybody may write either of the two into a pod of his own, but a kubelet removes a mirror pod
    // that it has no file for.
    private static boolean isStatic(Pod pod, PodFacts facts) {
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        return annotations != null
                && annotations.containsKey(MIRROR_ANNOTATION)
                && facts.owner() != null
                && facts.owner().kind().equals("Node");
    }
}
