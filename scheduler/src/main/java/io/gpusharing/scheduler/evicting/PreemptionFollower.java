package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.scheduler.cluster.PodLookup;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Finds out whether kube-scheduler ended those whom it was told it might end. */
final class PreemptionFollower {

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
        if (!claims.isPreempted(plan, pod)) {
            return Optional.of(new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise"));
        }
        return Optional.of(
                claims.isOthers(plan, victim, pod)
                        ? Surveyor.byAnother(victim)
                        : new Answer(victim.uid(), Result.Preempted.name(), null));
    }
}
