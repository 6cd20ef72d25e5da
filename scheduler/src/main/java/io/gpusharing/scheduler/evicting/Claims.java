package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import java.util.Comparator;
import java.util.Optional;

/**
 * Which of several plans has ended a pod that each of them names. kube-scheduler may ask again for
 * the same pod while its victims go, and reclaim may have one of them go, too: one receipt says
 * that the pod was ended.
 */
final class Claims {

    private static final Comparator<EvictionPlan> FIRST =
            Comparator.comparing(EvictionPlan::created).thenComparing(EvictionPlan::uid);

    private final EvictionWatch watch;
    private final PlanStore store;

    Claims(EvictionWatch watch, PlanStore store) {
        this.watch = watch;
        this.store = store;
    }

    /**
     * Returns whether another plan says that it has ended a victim, or is an older preemption that
     * will say so. What is open is read anew, for the watch may not show what was written a moment
     * ago.
     */
    boolean isOthers(EvictionPlan plan, Victim victim) {
        return watch.all().stream()
                .filter(it -> !it.uid().equals(plan.uid()))
                .filter(it -> it.victims().stream().anyMatch(one -> one.uid().equals(victim.uid())))
                .flatMap(it -> (it.object().isOpen() ? store.read(it) : Optional.of(it)).stream())
                .anyMatch(it -> hasEnded(it, plan, victim));
    }

    private static boolean hasEnded(EvictionPlan other, EvictionPlan plan, Victim victim) {
        boolean older = FIRST.compare(other, plan) < 0;
        if (plan.hasEnded(victim)) {
            // Both may have written so before they deleted it, and been stopped then.
            return other.hasEnded(victim) && (older || other.phase() != Phase.Planned);
        }
        return other.hasEnded(victim) || (older && isFollowed(other));
    }

    /** Whether it says of each victim that has ended by now that it did. */
    private static boolean isFollowed(EvictionPlan plan) {
        return plan.cause() == Cause.Preemption && plan.phase() == Phase.Asked;
    }
}
