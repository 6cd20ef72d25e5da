package io.gpusharing.scheduler.evicting;

import static io.gpusharing.kubernetes.EvictionPlan.result;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.scheduler.evicting.Surveyor.Survey;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Carries a plan out through the Eviction API, which honours PodDisruptionBudgets. All victims are
 * first tried by a dry run: if one of them may not be evicted, the others would lose their work for
 * nothing. Then the plan says that it is being carried out, and only then a pod ends. A victim that
 * has been refused for too long, as the plan says, is deleted if it is refused once more. Where
 * budgets are the reason, they are read anew before each of these steps.
 *
 * <p>A plan that says so already was left in the middle: what became of its victims is found out,
 * and the others are asked to go again.
 */
final class Evictions {

    private final Surveyor surveyor;
    private final EvictionApi api;
    private final PlanStore store;
    private final EvictionEvents events;
    private final RefusedStartPlanner refusedStarts;
    private final Waiters waiters;

    /** Whose pod that is may be nothing for those who read of this one. */
    private static final String ANOTHER = "another victim may not go";

    private final BooleanSupplier budgetsAreKnown;
    private final Function<EvictionPlan, Optional<String>> whyNotByBudgets;
    private final Duration maxGrace;

    Evictions(
            Surveyor surveyor,
            EvictionApi api,
            PlanStore store,
            EvictionEvents events,
            RefusedStartPlanner refusedStarts,
            Waiters waiters,
            BooleanSupplier budgetsAreKnown,
            Function<EvictionPlan, Optional<String>> whyNotByBudgets,
            Duration maxGrace) {
        this.surveyor = surveyor;
        this.api = api;
        this.store = store;
        this.events = events;
        this.refusedStarts = refusedStarts;
        this.waiters = waiters;
        this.budgetsAreKnown = budgetsAreKnown;
        this.whyNotByBudgets = whyNotByBudgets;
        this.maxGrace = maxGrace;
    }

    /**
     * Ends all victims that may be ended, or none.
     *
     * @param leads whether this replica still may, asked before each step
     * @return whether nothing is left to do for now; else it is to be looked at again soon
     * @throws KubernetesClientException if the API server did not answer
     */
    boolean carryOut(EvictionPlan plan, BooleanSupplier leads, Instant now) {
        if (plan.cause() == Cause.Reclaim && !plan.isLate(now) && !budgetsAreKnown.getAsBoolean()) {
            // We have just begun, which says nothing against what another one has planned.
            return false;
        }
        Survey survey = surveyor.survey(plan, now);
        boolean begun = survey.hasEnded();
        if (begun) {
            tellOfTheLost(plan, survey, now);
        }
        if (plan.object().isAskedAgain() && survey.hasExempt()) {
            // Until that ends, or the plan is taken back.
            return true;
        }
        String reason = whyNobody(plan, survey, now);
        if (!reason.isEmpty()) {
            // Whoever leads by now may have said the same by another plan.
            return !leads.getAsBoolean()
                    || conclude(plan, withoutTheRest(plan, survey, reason), reason, now);
        }
        if (!refusedStarts.allow(plan, survey)) {
            return false;
        }
        if (!begun) {
            Map<String, Answer> against = trial(plan, survey);
            if (!against.isEmpty()) {
                return store.over(plan, against, "", now);
            }
        }
        if (!leads.getAsBoolean()) {
            return true;
        }
        Optional<EvictionPlan> planned = store.planned(plan, survey.answers(), now);
        return planned.isPresent() && end(planned.get(), survey, leads, now);
    }

    /**
     * Why nobody is asked to go, or nobody else; empty if pods are. Once a pod has ended, another
     * one that may not go saves nobody.
     */
    private String whyNobody(EvictionPlan plan, Survey survey, Instant now) {
        if (survey.there().isEmpty()) {
            return survey.whyNot().orElse("nobody was there any more");
        }
        if (!survey.hasEnded() && !survey.spared().isEmpty()) {
            return survey.whyNot().orElseThrow();
        }
        if (refusedStarts.isOver(plan, survey)) {
            return "it was let start after all";
        }
        if (plan.cause() != Cause.Reclaim) {
            return "";
        }
        if (plan.isLate(now)) {
            return "it was too late";
        }
        return survey.hasEnded() || waiters.waits(plan)
                ? whyNotByBudgets(plan).orElse("")
                : "the waiter needed no room any more";
    }

    /** Nor may one budget's standing be for those who read of a pod of another. */
    private Optional<String> whyNotByBudgets(EvictionPlan plan) {
        boolean several = plan.victims().stream().map(Victim::budget).distinct().count() > 1;
        return whyNotByBudgets
                .apply(plan)
                .map(why -> several ? "budgets do not allow it any more" : why);
    }

    /** What is said of all victims where no more of them are asked. */
    private static Map<String, Answer> withoutTheRest(
            EvictionPlan plan, Survey survey, String reason) {
        Map<String, Answer> answers = new LinkedHashMap<>(survey.answers());
        survey.spared().forEach((victim, why) -> answers.put(victim.uid(), spared(victim, why)));
        String other = survey.spared().isEmpty() ? reason : ANOTHER;
        plan.victims().forEach(victim -> answers.putIfAbsent(victim.uid(), spared(victim, other)));
        return answers;
    }

    private static Answer spared(Victim victim, String why) {
        return new Answer(victim.uid(), Result.Spared.name(), why);
    }

    /** What stands against the plan, without any effect; empty if nothing does. */
    private Map<String, Answer> trial(EvictionPlan plan, Survey survey) {
        Map<String, Answer> against = new LinkedHashMap<>();
        for (Map.Entry<Victim, Pod> it : survey.there().entrySet()) {
            Victim victim = it.getKey();
            Answer answer = evict(plan, victim, it.getValue(), true);
            if (result(answer) == Result.Refused && victim.refusedSince() == null) {
                EvictionEvents.log(plan, victim, answer);
                against.put(victim.uid(), answer);
            }
        }
        if (against.isEmpty()) {
            return against;
        }
        against.putAll(survey.answers());
        survey.there()
                .keySet()
                .forEach(victim -> against.putIfAbsent(victim.uid(), spared(victim, ANOTHER)));
        return against;
    }

    private boolean end(EvictionPlan planned, Survey survey, BooleanSupplier leads, Instant now) {
        EvictionPlan plan = planned;
        Map<String, Answer> answers = new LinkedHashMap<>(survey.answers());
        survey.spared().forEach((victim, why) -> answers.put(victim.uid(), spared(victim, why)));
        for (Map.Entry<Victim, Pod> it : survey.there().entrySet()) {
            Victim victim = it.getKey();
            // In between others went, or a grant came.
            Optional<String> why =
                    plan.cause() == Cause.Reclaim ? whyNotByBudgets(plan) : Optional.empty();
            // Whoever leads then finds what has been done.
            if (!leads.getAsBoolean()) {
                return false;
            }
            if (why.isPresent()) {
                survey.there()
                        .keySet()
                        .forEach(rest -> answers.putIfAbsent(rest.uid(), spared(rest, why.get())));
                return conclude(plan, answers, why.get(), now);
            }
            Answer answer = evict(plan, victim, it.getValue(), false);
            if (result(answer) == Result.Refused && victim.refusedSince() != null) {
                Optional<EvictionPlan> marked = store.deleting(plan, victim, answer.detail());
                if (marked.isEmpty() || !leads.getAsBoolean()) {
                    return false;
                }
                plan = marked.get();
                answer = delete(victim, it.getValue(), answer);
            }
            EvictionEvents.log(plan, victim, answer);
            if (result(answer).ended()) {
                events.ended(plan, victim, answer, now);
                refusedStarts.ended(plan, it.getValue(), now);
            }
            answers.put(victim.uid(), answer);
        }
        return conclude(plan, answers, "nobody was there any more", now);
    }

    private boolean conclude(
            EvictionPlan plan, Map<String, Answer> answers, String reason, Instant now) {
        long gone = answers.values().stream().filter(it -> result(it).ended()).count();
        if (gone > 0 && plan.cause() == Cause.Reclaim) {
            events.roomMade(plan, gone, now);
        }
        return store.over(plan, answers, reason, now);
    }

    /** Of pods that ended and of which whoever did it could not say so. */
    private void tellOfTheLost(EvictionPlan plan, Survey survey, Instant now) {
        for (Victim victim : plan.victims()) {
            Answer answer = survey.answers().get(victim.uid());
            if (answer != null && result(answer).ended()) {
                events.ended(plan, victim, answer, now);
            }
        }
    }

    private Answer evict(EvictionPlan plan, Victim victim, Pod pod, boolean dryRun) {
        try {
            return answer(
                    victim,
                    api.evict(EvictionEvents.pod(victim), grace(pod), dryRun),
                    Result.Evicted);
        } catch (KubernetesClientException e) {
            if (!plan.object().isAskedAgain() || e.getCode() <= 0 || OutageLog.isOutageForAll(e)) {
                throw e;
            }
            // What it says else of this pod is no eviction either. Of one that is reclaimed no
            // refusal is made of it: it would be deleted for that.
            return new Answer(victim.uid(), Result.Refused.name(), String.valueOf(e.getMessage()));
        }
    }

    /** With the grace that is its due, past every PodDisruptionBudget. */
    private Answer delete(Victim victim, Pod pod, Answer refusal) {
        Answer answer =
                answer(victim, api.delete(EvictionEvents.pod(victim), grace(pod)), Result.Deleted);
        return result(answer) == Result.Deleted
                ? new Answer(victim.uid(), Result.Deleted.name(), refusal.detail())
                : answer;
    }

    private static Answer answer(Victim victim, EvictionApi.Answer answer, Result ended) {
        Result result =
                switch (answer.result()) {
                    case Ended -> ended;
                    case Refused -> Result.Refused;
                    case Gone -> Result.Gone;
                };
        return new Answer(
                victim.uid(), result.name(), answer.detail().isEmpty() ? null : answer.detail());
    }

    /** None where the pod's own will do, or the one that it was deleted with. */
    private @Nullable Duration grace(Pod pod) {
        return Stream.of(
                                pod.getSpec().getTerminationGracePeriodSeconds(),
                                pod.getMetadata().getDeletionGracePeriodSeconds())
                        .anyMatch(grace -> grace != null && grace > maxGrace.toSeconds())
                ? maxGrace
                : null;
    }
}
