package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.placement.PodHold;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Priorities;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
        Duration grace) {

    /**
     * The pod at one instant.
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
                grace);
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
}
