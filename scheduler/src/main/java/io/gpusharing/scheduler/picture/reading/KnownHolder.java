package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.budget.Standing;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.pods.PodEnd;
import io.gpusharing.scheduler.pods.Priorities;
import io.gpusharing.sharing.Amounts;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What a pod that holds resources of a node says of itself, which is kept of it: what a {@link
 * Holder} says besides depends on the time and on other objects.
 *
 * @param node where it is bound, or where the scheduler makes room for it
 * @param isBound whether it is bound
 * @param request what it asks for of GPUs, of which its node says what that is
 * @param hold what it holds if that is any share of a GPU
 * @param gang of a pod that does not go alone
 * @param labels by which PodDisruptionBudgets select it
 * @param exemption why it must never be evicted, by its own word; null if it does not say so
 * @param isStatic whether its kubelet runs it from a file
 * @param lowered whether it was admitted while its budget was used up, with the class of that
 * @param last what it was at the last instant that was asked for
 */
record KnownHolder(
        PodRef pod,
        String node,
        boolean isBound,
        Instant since,
        int priority,
        PodRequest request,
        PodHold hold,
        String gang,
        Map<String, String> labels,
        @Nullable String exemption,
        boolean isStatic,
        @Nullable Instant end,
        Duration grace,
        boolean lowered,
        AtomicReference<@Nullable Seen> last) {

    /** What a pod was, and of what that followed. */
    record Seen(NodeFacts facts, boolean isSpared, Set<String> disruptions, Holder holder) {}

    /**
     * The pod at one instant: mostly what it was before, for ten thousand pods are asked for each
     * second, and few of them end.
     *
     * @param facts what is known of its node
     * @param grammars what its request means there
     * @param isSpared whether its namespace is to be left alone
     * @param disruptions PodDisruptionBudgets that select it
     * @param ending when a pod that is being deleted counts as leaving
     */
    Holder at(
            NodeFacts facts,
            RequestGrammars grammars,
            boolean isSpared,
            Set<String> disruptions,
            Ending ending) {
        Seen before = last.get();
        if (before != null
                && end == null
                && before.isSpared == isSpared
                && before.facts.equals(facts)
                && before.disruptions.equals(disruptions)) {
            return before.holder;
        }
        Holder holder = read(facts, grammars, isSpared, disruptions, ending);
        last.set(new Seen(facts, isSpared, disruptions, holder));
        return holder;
    }

    private Holder read(
            NodeFacts facts,
            RequestGrammars grammars,
            boolean isSpared,
            Set<String> disruptions,
            Ending ending) {
        long share =
                PodFacts.asked(request, facts, grammars)
                        .map(BoundShare::share)
                        .map(it -> Math.max(it.compute(), it.memory()))
                        .orElse(0L);
        return new Holder(
                pod,
                node,
                since,
                priority,
                share,
                share > 0 ? hold : new PodHold(hold.requests(), List.of(), hold.containers()),
                ending.isOverdue(end) ? pod.uid() : gang,
                ending.isAwaited(end),
                exemption(isSpared, ending),
                disruptions,
                end,
                grace,
                lowered);
    }

    private @Nullable String exemption(boolean isSpared, Ending ending) {
        if (exemption != null) {
            return exemption;
        }
        if (isSpared) {
            return "its namespace is annotated " + Names.DO_NOT_RECLAIM_ANNOTATION;
        }
        // A pod without our label is no exception: the sweep charges it, and who could slip a whole
        // GPU past the webhook would keep it for ever.
        if (!isBound) {
            return "it does not run yet";
        }
        if (ending.isOverdue(end)) {
            return "its kubelet has not ended it, though its grace is over";
        }
        if (Priorities.isOfCluster(priority)) {
            return "its class belongs to the cluster";
        }
        return isStatic ? "its node's kubelet runs it from a file" : null;
    }

    /** Reads a pod that holds resources of a node. */
    static final class HolderReader {

        /** Every pod needs one of its node's pod slots, so that none fits where all are taken. */
        private static final Amounts EVERY_SLOT =
                new Amounts(Map.of("pods", BigDecimal.valueOf(Integer.MAX_VALUE)));

        private final CapacityReader capacity;
        private final Gangs gangs;
        private final int overBudgetPriority;
        private final Interned interned = new Interned();

        /**
         * @param overBudgetPriority of the class that pods get when they are admitted over budget
         */
        HolderReader(CapacityReader capacity, Gangs gangs, int overBudgetPriority) {
            this.capacity = capacity;
            this.gangs = gangs;
            this.overBudgetPriority = overBudgetPriority;
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
                    interned.one(PodEnd.grace(pod)),
                    Standing.wasOver(meta.getAnnotations())
                            && facts.placement().priority() <= overBudgetPriority,
                    new AtomicReference<>());
        }

        /**
         * What a pod that cannot be read counts for: it fills its node, and no eviction there would
         * be of use to anybody. Empty for one that is not bound, or has ended.
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
                            PodEnd.grace(pod),
                            false,
                            new AtomicReference<>()));
        }

        /** Where it is bound, or where the scheduler makes room for it. */
        private static @Nullable String node(PodFacts facts) {
            String node = facts.placement().node();
            return node == null ? facts.placement().nominatedNode() : node;
        }

        // Anybody may write either of the two into a pod of his own, but a kubelet removes a mirror
        // pod
        // that it has no file for.
        private static boolean isStatic(Pod pod, PodFacts facts) {
            Map<String, String> annotations = pod.getMetadata().getAnnotations();
            return annotations != null
                    && annotations.containsKey(LeanObjects.MIRROR_ANNOTATION)
                    && facts.owner() != null
                    && facts.owner().kind().equals("Node");
        }
    }
}
