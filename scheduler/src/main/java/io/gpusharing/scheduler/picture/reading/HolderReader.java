package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.PodRequest;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.pods.PodEnd;
import io.gpusharing.sharing.Amounts;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a pod that holds resources of a node. */
final class HolderReader {

    /** Every pod needs one of its node's pod slots, so that none fits where all are taken. */
    private static final Amounts EVERY_SLOT =
            new Amounts(Map.of("pods", BigDecimal.valueOf(Integer.MAX_VALUE)));

    private final CapacityReader capacity;
    private final Gangs gangs;
    private final Interned interned = new Interned();

    HolderReader(CapacityReader capacity, Gangs gangs) {
        this.capacity = capacity;
        this.gangs = gangs;
    }

    /** Whether it has a claim on a node, and none to be bound any more. */
    static boolean holds(PodFacts facts) {
        return node(facts) != null && !facts.lifecycle().terminal();
    }

    /**
     * @param pod one that holds something
     */
    KnownHolder read(Pod pod, PodFacts facts) {
        ObjectMeta meta = pod.getMetadata();
        return new KnownHolder(
                new PodRef(meta.getUid(), facts.namespace(), meta.getName()),
                Objects.requireNonNull(node(facts)),
                facts.placement().node() != null,
                requireNonNullElse(facts.lifecycle().scheduled(), facts.lifecycle().created()),
                facts.placement().priority(),
                facts.request(),
                capacity.hold(pod, true),
                interned.one(gangs.of(pod)),
                interned.one(Map.copyOf(requireNonNullElse(meta.getLabels(), Map.of()))),
                "true".equals(facts.annotations().get(Names.DO_NOT_RECLAIM_ANNOTATION))
                        ? "it is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION
                        : null,
                isStatic(pod, facts),
                PodEnd.of(pod),
                interned.one(PodEnd.grace(pod)));
    }

    /**
     * What a pod that cannot be read counts for: it fills its node, and no eviction there would be
     * of use to anybody. Empty for one that is not bound, or has ended.
     */
    static Optional<KnownHolder> filling(Pod pod) {
        String node = pod.getSpec().getNodeName();
        if (node == null || PodPhase.hasEnded(pod)) {
            return Optional.empty();
        }
        ObjectMeta meta = pod.getMetadata();
        return Optional.of(
                new KnownHolder(
                        new PodRef(meta.getUid(), meta.getNamespace(), meta.getName()),
                        node,
                        true,
                        Instant.EPOCH,
                        // The scheduler can preempt it for nobody, as far as is known here.
                        Integer.MAX_VALUE,
                        new PodRequest(List.of()),
                        new PodHold(EVERY_SLOT, List.of(), List.of()),
                        meta.getUid(),
                        Map.of(),
                        "it cannot be read",
                        false,
                        null,
                        PodEnd.grace(pod)));
    }

    /** Where it is bound, or where the scheduler makes room for it. */
    private static @Nullable String node(PodFacts facts) {
        String node = facts.placement().node();
        return node == null ? facts.placement().nominatedNode() : node;
    }

    // Anybody may write either of the two into a pod of his own, but a kubelet removes a mirror pod
    // that it has no file for.
    private static boolean isStatic(Pod pod, PodFacts facts) {
        Map<String, String> annotations = pod.getMetadata().getAnnotations();
        return annotations != null
                && annotations.containsKey(LeanObjects.MIRROR_ANNOTATION)
                && facts.owner() != null
                && facts.owner().kind().equals("Node");
    }
}
