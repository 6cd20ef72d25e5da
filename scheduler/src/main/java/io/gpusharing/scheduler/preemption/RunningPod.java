package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.picture.BudgetAccount;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pod that is bound to a node, and what decides whether it has to go for another.
 *
 * @param priority what it counts for: its own, until {@link PresentPriorities} says otherwise
 * @param started when its kubelet began with it; {@link Instant#MAX} if it has not yet
 * @param deletion until when it may take to end, if it is being deleted; null if it is not
 * @param grace how long it may take once it is told to end
 * @param gang names the pods that go together with it or not at all; its UID if there are none
 * @param stamps what admission and administrators have written on it
 * @param payer whose budget pays for it, as that stands when somebody may have to go; null if no
 *     budget limits it, and until then
 */
public record RunningPod(
        String uid,
        String namespace,
        String name,
        Map<String, String> labels,
        int priority,
        Instant started,
        @Nullable Instant deletion,
        Duration grace,
        String gang,
        Stamps stamps,
        @Nullable BudgetAccount payer) {

    /**
     * What is written on a pod that only admission and administrators may write.
     *
     * @param metered whether it is charged
     * @param overBudget whether its budget was used up when it was admitted
     * @param doNotReclaim whether an administrator protects it
     */
    public record Stamps(boolean metered, boolean overBudget, boolean doNotReclaim) {}

    /** As kube-scheduler compares them: of equal ones, who runs longer. */
    static final Comparator<RunningPod> MOST_IMPORTANT_FIRST =
            Comparator.comparingInt(RunningPod::priority)
                    .reversed()
                    .thenComparing(RunningPod::started)
                    .thenComparing(RunningPod::uid);

    /** By when it is to have ended, or this if that is later. */
    Instant deletionOr(Instant other) {
        return deletion == null || deletion.isBefore(other) ? other : deletion;
    }

    boolean isDeleted() {
        return deletion != null;
    }

    /** Returns the pod as one that goes alone. */
    RunningPod alone() {
        return with(priority, uid, payer);
    }

    /** Returns the pod with what its priority counts for now, and who pays for it. */
    RunningPod counting(int now, @Nullable BudgetAccount itsPayer) {
        return with(now, gang, itsPayer);
    }

    private RunningPod with(int now, String together, @Nullable BudgetAccount itsPayer) {
        return new RunningPod(
                uid, namespace, name, labels, now, started, deletion, grace, together, stamps,
                itsPayer);
    }
}
