package io.gpusharing.scheduler.evicting;

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

    private static final Comparator<Plan> FIRST =
            Comparator.comparing(Plan::created).thenComparing(Plan::uid);

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
    boolean isOthers(Plan plan, Victim victim) {
        return watch.all().stream()
                .filter(it -> !it.uid().equals(plan.uid()))
                .filter(it -> it.victims().stream().anyMatch(one -> one.uid().equals(victim.uid())))
                .flatMap(it -> (it.object().isOpen() ? store.read(it) : Optional.of(it)).stream())
                .anyMatch(it ->
                        it.hasEnded(victim) || (isFollowed(it) && FIRST.compare(it, plan) < 0));
    }

    /** Whether it says of each victim that has ended by now that it did. */
    private static boolean isFollowed(Plan plan) {
        return plan.cause() == Cause.Preemption && plan.phase() == Phase.Asked;
    }
}
