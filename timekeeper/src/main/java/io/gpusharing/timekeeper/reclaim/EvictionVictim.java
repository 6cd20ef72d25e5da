package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import org.jspecify.annotations.Nullable;

/**
 * A pod that was to go.
 *
 * @param budget its budget, over its time then
 * @param reason why this one, in words
 * @param cost micro-GPU-seconds of its run, which may be lost
 * @param result what became of it; null until the API server has answered
 * @param resultDetail what the API server said
 */
@Embeddable
record EvictionVictim(
        String namespace,
        String name,
        String budget,
        String gang,
        String node,
        String reason,
        long cost,
        @Enumerated(EnumType.STRING) @Nullable Result result,
        String resultDetail) {

    /** What became of an eviction. */
    enum Result {
        /** The API server let it go. */
        Evicted,
        /** It was deleted, because the API server had refused to let it go for too long. */
        Deleted,
        /** The API server did not let it go, for instance because of a PodDisruptionBudget. */
        Refused,
        /** It was not asked to go, because another of the same plan may not. */
        Spared,
        /** It was not there any more. */
        Gone;

        /** Whether we ended it. */
        boolean ended() {
            return this == Evicted || this == Deleted;
        }

        /** Whether it is still there. */
        boolean remained() {
            return this == Refused || this == Spared;
        }
    }

    /** What a plan comes to for a victim that remained. */
    static final Outcome REMAINED = new Outcome(false, "it was not evicted");

    static EvictionVictim planned(Victim victim) {
        return new EvictionVictim(
                victim.pod().namespace(),
                victim.pod().name(),
                victim.budget(),
                victim.gang(),
                victim.node(),
                victim.why(),
                victim.cost(),
                null,
                "");
    }

    /** Whether it is known to be still there. */
    boolean remained() {
        return result != null && result.remained();
    }

    EvictionVictim with(Result result, String detail) {
        return new EvictionVictim(
                namespace, name, budget, gang, node, reason, cost, result, detail);
    }
}
