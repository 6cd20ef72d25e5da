package io.gpusharing.timekeeper.allocation;

import io.gpusharing.budget.ShareRule;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.Optional;

/** What a pod holds on its node. */
public final class HeldShare {

    private static final BoundShare ABSURD =
            new BoundShare(new GpuShare(ShareRule.MAX_RATE, ShareRule.MAX_RATE), false);

    private HeldShare() {}

    /**
     * The share by the grammar that reads the request; empty if it asks for no GPU. A request
     * beyond {@link ShareRule#MAX_RATE} counts as that much and is marked as not known: one absurd
     * pod must not stop the ledger for all others.
     */
    public static Optional<BoundShare> of(
            PodRequest request, NodeFacts node, RequestGrammars grammars) {
        return grammars.grammarOf(request)
                .map(grammar -> {
                    try {
                        return limited(grammar.shareOn(request, node));
                    } catch (ArithmeticException e) {
                        return ABSURD;
                    }
                });
    }

    /** The same, with what the pod alone holds by resource claims. */
    public static Optional<BoundShare> of(PodFacts pod, NodeFacts node, RequestGrammars grammars) {
        Optional<BoundShare> asked = of(pod.request(), node, grammars);
        return pod.claimed().isNone()
                ? asked
                : Optional.of(limited(asked.orElse(BoundShare.NONE).plus(pod.claimed().own())));
    }

    /** Whether a pod asks for GPUs, or holds some by claims. */
    public static boolean holdsAny(PodFacts pod, RequestGrammars grammars) {
        return !pod.claimed().isNone() || grammars.grammarOf(pod.request()).isPresent();
    }

    /** The same, or as much as is ever charged. */
    public static BoundShare limited(BoundShare held) {
        GpuShare share = held.share();
        return Math.max(share.compute(), share.memory()) > ShareRule.MAX_RATE ? ABSURD : held;
    }
}
