package io.gpusharing.scheduler.evicting;

import static io.gpusharing.kubernetes.EvictionPlan.result;
import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.pods.Disruption;
import io.gpusharing.scheduler.pods.Priorities;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Looks at the victims of a plan before anything is done to them, and after whoever did it has
 * ended before the answer was written down.
 */
final class Surveyor {

    private static final String EXEMPT = "is exempted by an administrator";

    private final PodLookup pods;
    private final PreemptionFollower preemptions;
    private final Duration maxGrace;

    /**
     * @param maxGrace what a victim is given to end at most
     */
    Surveyor(PodLookup pods, PreemptionFollower preemptions, Duration maxGrace) {
        this.pods = pods;
        this.preemptions = preemptions;
        this.maxGrace = maxGrace;
    }

    /** What can be found of a plan's victims now. */
    Survey survey(EvictionPlan plan, Instant now) {
        Survey survey = Survey.empty();
        // Of a gang of hundreds it is one.
        Map<String, Boolean> exempt = new HashMap<>();
        for (Victim victim : plan.victims()) {
            Optional<Pod> pod = pods.find(victim.namespace(), victim.name(), victim.uid());
            // Who deletes a pod with a year's grace keeps its GPU for a year, unless it is evicted.
            if (pod.isEmpty()
                    || !PodLookup.isLivingAfter(
                            now.plus(maxGrace).plus(LeaseSettings.SKEW), pod.get())) {
                survey.answers().put(victim.uid(), whatBecame(plan, victim, pod));
                continue;
            }
            whyNot(plan, victim, pod.get(), exempt)
                    .ifPresentOrElse(
                            why -> survey.spared().put(victim, why),
                            () -> survey.there().put(victim, pod.get()));
        }
        return survey;
    }

    /**
     * Why a pod that is there may not be evicted for this.
     *
     * @param exempt which namespaces are exempted, as far as that is known
     */
    private Optional<String> whyNot(
            EvictionPlan plan, Victim victim, Pod pod, Map<String, Boolean> exempt) {
        if (!victim.node().equals(pod.getSpec().getNodeName())) {
            return Optional.of("is not on " + victim.node());
        }
        if (plan.cause() == Cause.MemoryOveruse) {
            if (!PodLookup.isTrue(pod.getMetadata().getLabels(), Names.METERED_LABEL)) {
                return Optional.of("was given no GPU");
            }
        }
        Integer priority = pod.getSpec().getPriority();
        if (plan.cause() != Cause.RefusedStart
                && priority != null
                && Priorities.isOfCluster(priority)) {
            return Optional.of("has a priority of the cluster itself");
        }
        return plan.cause() != Cause.RefusedStart
                        && (PodLookup.isTrue(
                                        pod.getMetadata().getAnnotations(),
                                        Names.DO_NOT_RECLAIM_ANNOTATION)
                                || exempt.computeIfAbsent(victim.namespace(), pods::isExempt))
                ? Optional.of(EXEMPT)
                : Optional.empty();
    }

    /**
     * What became of a pod that is not there any more, or ends. While nobody had been asked that is
     * none of ours. Afterwards it was evicted if it says so; if it is gone, nobody can say any
     * more, and that the answer was lost is likelier than that it went by itself in that moment.
     */
    private Answer whatBecame(EvictionPlan plan, Victim victim, Optional<Pod> pod) {
        if (plan.phase() != Phase.Planned) {
            return new Answer(victim.uid(), Result.Gone.name(), "it was gone already");
        }
        if (preemptions.isOthers(plan, victim, pod)) {
            return byAnother(victim);
        }
        Optional<Answer> mark = plan.answer(victim);
        if (mark.isPresent()) {
            // Written before it was deleted.
            return mark.get();
        }
        if (pod.isEmpty()) {
            return new Answer(
                    victim.uid(), Result.Evicted.name(), "no answer came, and it is gone");
        }
        // The condition is dated by another clock, which may differ.
        Instant since = requireNonNull(plan.plannedAt()).minus(LeaseSettings.SKEW);
        return isDisrupted(pod.get(), "EvictionByEvictionAPI", since)
                ? new Answer(victim.uid(), Result.Evicted.name(), "no answer came, and it ends")
                : new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise");
    }

    /**
     * Whether a pod says itself that it was made to end.
     *
     * @param reason who did that
     * @param since not before the second of this instant
     */
    static boolean isDisrupted(Pod pod, String reason, Instant since) {
        return Disruption.at(pod, reason)
                .filter(at -> !at.isBefore(since.truncatedTo(ChronoUnit.SECONDS)))
                .isPresent();
    }

    /** Of a victim that another plan has ended. */
    static Answer byAnother(Victim victim) {
        return new Answer(victim.uid(), Result.Gone.name(), "it ended by another eviction");
    }

    /**
     * What was found of a plan's victims.
     *
     * @param there pods that may be evicted
     * @param spared why a pod may not be evicted that is there
     * @param answers what became of a pod that is not, by its UID
     */
    record Survey(Map<Victim, Pod> there, Map<Victim, String> spared, Map<String, Answer> answers) {

        private static Survey empty() {
            return new Survey(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        }

        /** Whether a pod has ended by this plan. */
        boolean hasEnded() {
            return answers.values().stream().anyMatch(it -> result(it).ended());
        }

        /** Whether a victim stays for as long as an administrator says so. */
        boolean hasExempt() {
            return spared.containsValue(EXEMPT);
        }

        /** Why one of them stays, with its name; empty if all may go. */
        Optional<String> whyNot() {
            return spared.entrySet().stream()
                    .findFirst()
                    .map(it -> "%s %s".formatted(EvictionEvents.name(it.getKey()), it.getValue()));
        }
    }
}
