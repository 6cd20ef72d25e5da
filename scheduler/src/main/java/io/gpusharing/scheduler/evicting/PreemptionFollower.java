package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.scheduler.cluster.PodLookup;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Finds out whether kube-scheduler ended those whom it was told it might end. */
final class PreemptionFollower {

    /** In which kube-scheduler deletes pods after it was told that it may. */
    private static final Duration PROMPTLY = Duration.ofSeconds(10);

    private final PodLookup pods;
    private final Claims claims;
    private final PlanStore store;

    PreemptionFollower(PodLookup pods, Claims claims, PlanStore store) {
        this.pods = pods;
        this.claims = claims;
        this.store = store;
    }

    /**
     * Writes down what became of the victims: once all of them have ended, or their time is over.
     *
     * @return whether that is written
     */
    boolean follow(EvictionPlan plan, Instant now) {
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
        return store.over(plan, answers, "kube-scheduler ended none of them", now);
    }

    /** What kube-scheduler did to a victim; empty while the pod runs on. */
    private Optional<Answer> whatBecame(EvictionPlan plan, Victim victim) {
        Optional<Pod> pod = pods.find(victim.namespace(), victim.name(), victim.uid());
        if (pod.filter(PodLookup::isLiving).isPresent()) {
            return Optional.empty();
        }
        if (pod.isPresent() && !isPreempted(plan, pod.get())) {
            return Optional.of(new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise"));
        }
        return Optional.of(
                claims.isOthers(plan, victim)
                        ? Surveyor.byAnother(victim)
                        : new Answer(victim.uid(), Result.Preempted.name(), null));
    }

    /**
     * Whether kube-scheduler ended a pod. It says so on it before it deletes it, where the pod's
     * owner may write as well, to hide that; but the owner can change neither when the deletion
     * began, nor that kube-scheduler has followed the plan.
     */
    private boolean isPreempted(EvictionPlan plan, Pod pod) {
        return Surveyor.isDisrupted(pod, "PreemptionByScheduler", plan.created())
                || (isPrompt(plan, pod) && isFollowed(plan));
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
