package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.pods.Disruption;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Finds out whether kube-scheduler ended those whom it was told it might end, and which of several
 * plans has ended a pod that each of them names. kube-scheduler may ask again for the same pod
 * while its victims go, and reclaim may have one of them go, too: one receipt says that the pod was
 * ended.
 */
final class PreemptionFollower {

    private static final Comparator<EvictionPlan> FIRST =
            Comparator.comparing(EvictionPlan::created).thenComparing(EvictionPlan::uid);

    /** In which kube-scheduler deletes pods after it was told that it may. */
    private static final Duration PROMPTLY = Duration.ofSeconds(10);

    private final PodLookup pods;
    private final EvictionWatch watch;
    private final PlanStore store;

    PreemptionFollower(PodLookup pods, EvictionWatch watch, PlanStore store) {
        this.pods = pods;
        this.watch = watch;
        this.store = store;
    }

    /**
     * Writes down what became of the victims: once all of them have ended, or their time is over.
     *
     * @param leads whether this replica still may
     * @return whether nothing is left to do for now
     */
    boolean follow(EvictionPlan plan, BooleanSupplier leads, Instant now) {
        Map<String, Answer> answers = new LinkedHashMap<>();
        for (Victim victim : plan.victims()) {
            Optional<Answer> answer = whatBecame(plan, victim);
            if (answer.isEmpty() && !plan.isLate(now)) {
                return false;
            }
            answers.put(
                    victim.uid(),
                    answer.orElseGet(() ->
                            new Answer(
                                    victim.uid(),
                                    Result.Spared.name(),
                                    "kube-scheduler had not ended it by " + plan.settlesAt())));
        }
        // Whoever leads by now may have said of another plan what became of a pod of both.
        return !leads.getAsBoolean()
                || store.over(plan, answers, "kube-scheduler ended none of them", now);
    }

    /** What kube-scheduler did to a victim; empty while the pod runs on. */
    private Optional<Answer> whatBecame(EvictionPlan plan, Victim victim) {
        Optional<Pod> pod = pods.find(victim.namespace(), victim.name(), victim.uid());
        if (pod.filter(PodLookup::isLiving).isPresent()) {
            return Optional.empty();
        }
        if (!isPreempted(plan, pod)) {
            return Optional.of(new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise"));
        }
        return Optional.of(
                isOthers(plan, victim, pod)
                        ? Surveyor.byAnother(victim)
                        : new Answer(victim.uid(), Result.Preempted.name(), null));
    }

    /**
     * Returns whether another plan says that it has ended a victim, or is an older preemption that
     * will say so. What is open is read anew, for the watch may not show what was written a moment
     * ago.
     */
    boolean isOthers(EvictionPlan plan, Victim victim, Optional<Pod> pod) {
        return watch.all().stream()
                .filter(it -> !it.uid().equals(plan.uid()))
                .filter(it -> it.victims().stream().anyMatch(one -> one.uid().equals(victim.uid())))
                .flatMap(it -> (it.object().isOpen() ? store.read(it) : Optional.of(it)).stream())
                .anyMatch(it -> hasEnded(it, plan, victim, pod));
    }

    private boolean hasEnded(
            EvictionPlan other, EvictionPlan plan, Victim victim, Optional<Pod> pod) {
        boolean older = FIRST.compare(other, plan) < 0;
        if (plan.hasEnded(victim)) {
            // Both may have written so before they deleted it, and been stopped then.
            return other.hasEnded(victim) && (older || other.phase() != Phase.Planned);
        }
        return other.hasEnded(victim) || (older && isOpen(other) && isPreempted(other, pod));
    }

    private static boolean isOpen(EvictionPlan plan) {
        return plan.cause() == Cause.Preemption && plan.phase() == Phase.Asked;
    }

    /**
     * Whether kube-scheduler ended a pod as a plan of preemption lets it. It says so on it before
     * it deletes it, where the pod's owner may write as well, to hide that; but the owner can
     * change neither when the deletion began, nor that kube-scheduler has followed the plan. A pod
     * that is gone says nothing any more. A plan that was written afterwards was written because
     * the pod said so.
     */
    private boolean isPreempted(EvictionPlan plan, Optional<Pod> pod) {
        return pod.isEmpty()
                || UnaskedPreemptions.isOne(plan)
                || Surveyor.isDisrupted(pod.get(), Disruption.BY_SCHEDULER, plan.created())
                || (isPrompt(plan, pod.get()) && isFollowed(plan));
    }

    private static boolean isPrompt(EvictionPlan plan, Pod pod) {
        return deletedAt(pod)
                .filter(at -> !at.isBefore(plan.created()))
                .filter(at -> at.isBefore(plan.created().plus(PROMPTLY)))
                .isPresent();
    }

    /** When its deletion began; shortening the grace moves the end alone. */
    private static Optional<Instant> deletedAt(Pod pod) {
        Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
        return Optional.ofNullable(ApiTime.readPresent(pod.getMetadata().getDeletionTimestamp()))
                .map(end -> end.minusSeconds(grace == null ? 0 : grace));
    }

    /** Whether kube-scheduler wants the waiter where it was told that it may end the victims. */
    private boolean isFollowed(EvictionPlan plan) {
        String node = plan.object().getSpec().node();
        return plan.waiter()
                .flatMap(it -> pods.find(it.namespace(), it.name(), it.uid()))
                .filter(it ->
                        node.equals(it.getSpec().getNodeName())
                                || (it.getStatus() != null
                                        && node.equals(it.getStatus().getNominatedNodeName())))
                .isPresent();
    }
}
