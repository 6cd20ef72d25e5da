package io.gpusharing.kubernetes;

import io.gpusharing.budget.ShareRule;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What we read of a pod: who it is, what it asks for, where it stands, and when what happened to
 * it.
 *
 * @param owner what created it; null for a bare pod
 * @param claimed what it holds by resource claims, beside what it asks for in its limits
 * @param annotations only those that are read here
 */
public record PodFacts(
        UUID uid,
        String namespace,
        String name,
        @Nullable Owner owner,
        PodRequest request,
        Claimed claimed,
        Map<String, String> annotations,
        Placement placement,
        Lifecycle lifecycle) {

    private static final BoundShare ABSURD =
            new BoundShare(new GpuShare(ShareRule.MAX_RATE, ShareRule.MAX_RATE), false);

    /** The controller of a pod, for instance a Job. */
    public record Owner(String kind, String name, String uid) {}

    /**
     * Where a pod stands in scheduling.
     *
     * @param node where it is bound; null while it waits
     * @param nominatedNode where the scheduler makes room for it
     * @param gated whether a scheduling gate holds it back
     * @param unschedulableSince since when the scheduler has found no place; null if it did not say
     *     so
     */
    public record Placement(
            @Nullable String node,
            @Nullable String nominatedNode,
            int priority,
            boolean gated,
            @Nullable Instant unschedulableSince) {}

    /**
     * The instants of a pod's life, as far as they are known.
     *
     * @param scheduled transition of {@code PodScheduled} to true
     * @param scheduledByBinding whether the API server itself stamped that, at the binding. A
     *     kubelet writes the condition for pods that no scheduler bound, and again for pods that it
     *     had rejected
     * @param started when the kubelet took it up
     * @param terminal whether its phase is {@code Succeeded} or {@code Failed}
     * @param finished when the last of its containers ended; the metering sidecar, which ends after
     *     the pod's own, counts where none of those reports an end, or where it took a minute
     *     longer
     * @param endUnknown whether one of its own containers runs, or ran and does not report when it
     *     ended: then the end of another says nothing of the pod's
     * @param lost when the pod was taken for lost with its node: the transition of {@code
     *     DisruptionTarget} to true by the taint manager or the garbage collector. Evictions set
     *     it, too, but then the pod still runs
     * @param notReady transition of {@code Ready} to false
     * @param removal {@code deletionTimestamp} once no grace is left, which is the second of its
     *     removal; while grace lasts, the timestamp lies ahead and says nothing
     * @param written when the API server last took a change of its status, by the API server's own
     *     clock; what nodes stamp by theirs cannot have happened later. Null if it does not say
     */
    public record Lifecycle(
            Instant created,
            @Nullable Instant scheduled,
            boolean scheduledByBinding,
            @Nullable Instant started,
            boolean terminal,
            @Nullable Instant finished,
            boolean endUnknown,
            @Nullable Instant lost,
            @Nullable Instant notReady,
            @Nullable Instant removal,
            @Nullable Instant written) {}

    public PodFacts {
        annotations = Map.copyOf(annotations);
    }

    /** Whether it asks for GPUs, or holds some by claims. */
    public boolean holdsGpus(RequestGrammars grammars) {
        return !claimed.isNone() || grammars.grammarOf(request).isPresent();
    }

    /**
     * The share that it holds; empty if it holds no GPU.
     *
     * @param devices what is known of the devices that a container got
     */
    public Optional<BoundShare> held(
            Function<ContainerRequest, NodeFacts> devices, RequestGrammars grammars) {
        Optional<BoundShare> asked = asked(request, devices, grammars);
        return claimed.isNone()
                ? asked
                : Optional.of(limited(asked.orElse(BoundShare.NONE).plus(claimed.own())));
    }

    /**
     * The share by the grammar that reads its request, without what it holds by claims; empty if it
     * asks for no GPU. A request beyond {@link ShareRule#MAX_RATE} counts as that much and is
     * marked as not known: one absurd pod must not stop the ledger for all others.
     */
    public Optional<BoundShare> asked(NodeFacts node, RequestGrammars grammars) {
        return asked(request, container -> node, grammars);
    }

    /** The same of a request that was kept without the rest. */
    public static Optional<BoundShare> asked(
            PodRequest request, NodeFacts node, RequestGrammars grammars) {
        return asked(request, container -> node, grammars);
    }

    private static Optional<BoundShare> asked(
            PodRequest request,
            Function<ContainerRequest, NodeFacts> devices,
            RequestGrammars grammars) {
        return grammars.grammarOf(request)
                .map(grammar -> {
                    try {
                        return limited(grammar.shareOn(request, devices));
                    } catch (ArithmeticException | IllegalArgumentException e) {
                        return ABSURD;
                    }
                });
    }

    /** The same, or as much as is ever charged. */
    public static BoundShare limited(BoundShare held) {
        GpuShare share = held.share();
        return Math.max(share.compute(), share.memory()) > ShareRule.MAX_RATE ? ABSURD : held;
    }
}
