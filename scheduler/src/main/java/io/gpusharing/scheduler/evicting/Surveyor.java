package io.gpusharing.scheduler.evicting;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.pods.Priorities;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Looks at the victims of a plan before anything is done to them, and after whoever did it has
 * ended before the answer was written down.
 */
final class Surveyor {

    /** In which kube-scheduler deletes pods after it was told that it may. */
    private static final Duration PROMPTLY = Duration.ofSeconds(10);

    private static final String EXEMPT = "is exempted by an administrator";

    private final PodLookup pods;
    private final Claims claims;
    private final Duration maxGrace;

    /**
     * @param maxGrace what a victim is given to end at most
     */
    Surveyor(PodLookup pods, Claims claims, Duration maxGrace) {
        this.pods = pods;
        this.claims = claims;
        this.maxGrace = maxGrace;
    }

    /** What can be found of a plan's victims now. */
    Survey survey(Plan plan, Instant now) {
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

    /** Whether a victim stays for as long as an administrator says so. */
    static boolean isExempt(Survey survey) {
        return survey.spared().containsValue(EXEMPT);
    }

    /**
     * Why a pod that is there may not be evicted for this.
     *
     * @param exempt which namespaces are exempted, as far as that is known
     */
    private Optional<String> whyNot(
            Plan plan, Victim victim, Pod pod, Map<String, Boolean> exempt) {
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
    private Answer whatBecame(Plan plan, Victim victim, Optional<Pod> pod) {
        if (plan.phase() != Phase.Planned) {
            return new Answer(victim.uid(), Result.Gone.name(), "it was gone already");
        }
        Optional<Answer> mark = plan.answer(victim);
        if (mark.isPresent()) {
            // Written before it was deleted.
            return mark.get();
        }
        if (pod.isEmpty()) {
            return claims.isOthers(plan, victim)
                    ? byAnother(victim)
                    : new Answer(
                            victim.uid(), Result.Evicted.name(), "no answer came, and it is gone");
        }
        // The condition is dated by another clock, which may differ.
        Instant since = requireNonNull(plan.plannedAt()).minus(LeaseSettings.SKEW);
        return isDisrupted(pod.get(), "EvictionByEvictionAPI", since)
                ? new Answer(victim.uid(), Result.Evicted.name(), "no answer came, and it ends")
                : new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise");
    }

    /**
     * Whether a pod says itself that it was made to end (Kubernetes, {@code DisruptionTarget}).
     *
     * @param reason who did that
     * @param since not before the second of this instant
     */
    static boolean isDisrupted(Pod pod, String reason, Instant since) {
        return pod.getStatus() != null
                && pod.getStatus().getConditions().stream()
                        .filter(it -> "DisruptionTarget".equals(it.getType()))
                        .filter(it -> "True".equals(it.getStatus()))
                        .filter(it -> reason.equals(it.getReason()))
                        .map(PodCondition::getLastTransitionTime)
                        .anyMatch(at ->
                                at != null
                                        && !ApiTime.read(at)
                                                .isBefore(since.truncatedTo(ChronoUnit.SECONDS)));
    }

    /**
     * What kube-scheduler did to a victim that it was told of.
     *
     * @return empty while the pod runs on
     */
    Optional<Answer> preempted(Plan plan, Victim victim) {
        Optional<Pod> pod = pods.find(victim.namespace(), victim.name(), victim.uid());
        if (pod.filter(PodLookup::isLiving).isPresent()) {
            return Optional.empty();
        }
        if (pod.filter(it -> !isPreempted(plan, it)).isPresent()) {
            return Optional.of(new Answer(victim.uid(), Result.Gone.name(), "it ended otherwise"));
        }
        return Optional.of(
                claims.isOthers(plan, victim)
                        ? byAnother(victim)
                        : new Answer(victim.uid(), Result.Preempted.name(), null));
    }

    private static Answer byAnother(Victim victim) {
        return new Answer(victim.uid(), Result.Gone.name(), "it ended by another eviction");
    }

    /**
     * Whether kube-scheduler ended a pod. It says so on it before it deletes it, where the pod's
     * owner may write as well; but nobody can change when the deletion began.
     */
    private static boolean isPreempted(Plan plan, Pod pod) {
        return isDisrupted(pod, "PreemptionByScheduler", plan.created())
                || deletedAt(pod)
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
}
