package io.gpusharing.timekeeper.reclaim;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries a plan out through the Eviction API, which honours PodDisruptionBudgets, and writes
 * Events about it. All victims are first tried by a dry run: if one of them may not be evicted, the
 * others would lose their work for nothing. A victim that has been refused for longer than {@code
 * gpusharing.reclaim.insist-after} is deleted if it is refused once more.
 */
class Evictions {

    private static final Logger log = LoggerFactory.getLogger(Evictions.class);

    private final EvictionApi api;
    private final Events events;
    private final Duration maxGrace;

    Evictions(KubernetesClient client, Duration maxGrace) {
        this.api = new EvictionApi(client);
        this.events = new Events(EvictionApi.askingOnce(client), Names.TIMEKEEPER);
        this.maxGrace = maxGrace;
    }

    /** What the API server said to one eviction. */
    record Answer(Result result, String detail) {}

    /**
     * Evicts all of a plan's victims, or none.
     *
     * @param leads whether this replica still may, asked when it is meant
     * @return by the victim's UID; empty if it may not
     */
    Map<String, Answer> carryOut(Evict plan, BooleanSupplier leads, Instant now) {
        Map<String, Answer> against = trial(plan);
        if (!against.isEmpty() || !leads.getAsBoolean()) {
            return against;
        }
        Map<String, Answer> answers = new HashMap<>();
        for (Victim victim : plan.victims()) {
            Answer answer = end(victim);
            answers.put(victim.pod().uid(), answer);
            log.atInfo()
                    .addKeyValue("victim", victim.pod())
                    .addKeyValue("budget", victim.budget())
                    .addKeyValue("waiter", plan.waiter().pod())
                    .addKeyValue("node", plan.node())
                    .addKeyValue("result", answer.result())
                    .log("reclaimed");
            notifyVictim(plan, victim, answer, now);
        }
        long gone = answers.values().stream().filter(it -> it.result().ended()).count();
        if (gone > 0) {
            writeEvent(
                    plan.waiter().pod(),
                    Events.Type.Normal,
                    "RoomMade",
                    "%d pod(s) of budgets that are used up were evicted from %s"
                            .formatted(gone, plan.node()),
                    now);
        }
        return answers;
    }

    /** What stands against the plan, without any effect; empty if nothing does. */
    private Map<String, Answer> trial(Evict plan) {
        Map<String, Answer> refused = new HashMap<>();
        String staying = "";
        for (Victim victim : plan.victims()) {
            Answer answer = evict(victim, true);
            if (answer.result() == Result.Refused && victim.refusedSince() == null) {
                refused.put(victim.pod().uid(), answer);
                staying = victim.pod().toString();
            }
        }
        if (!refused.isEmpty()) {
            Answer spared = new Answer(Result.Spared, staying + " may not go");
            plan.victims().forEach(victim -> refused.putIfAbsent(victim.pod().uid(), spared));
        }
        return refused;
    }

    private Answer end(Victim victim) {
        Answer answer = evict(victim, false);
        return answer.result() == Result.Refused && victim.refusedSince() != null
                ? delete(victim, answer)
                : answer;
    }

    private void notifyVictim(Evict plan, Victim victim, Answer answer, Instant now) {
        String done =
                switch (answer.result()) {
                    case Evicted -> "Evicted";
                    case Deleted ->
                            "Deleted, although that was refused since %s (%s),"
                                    .formatted(
                                            seconds(requireNonNull(victim.refusedSince())),
                                            answer.detail());
                    case Refused, Spared, Gone -> "";
                };
        if (!done.isEmpty()) {
            writeEvent(
                    victim.pod(),
                    Events.Type.Warning,
                    "Reclaimed",
                    "%s to make room on %s for %s, which is in budget: %s"
                            .formatted(done, plan.node(), plan.waiter().pod(), victim.why()),
                    now);
        }
    }

    private Answer evict(Victim victim, boolean dryRun) {
        return answer(api.evict(reference(victim.pod()), grace(victim), dryRun), Result.Evicted);
    }

    /** With the grace that is its due, past every PodDisruptionBudget. */
    private Answer delete(Victim victim, Answer refusal) {
        Answer answer = answer(api.delete(reference(victim.pod()), grace(victim)), Result.Deleted);
        return answer.result() == Result.Deleted
                ? new Answer(Result.Deleted, refusal.detail())
                : answer;
    }

    private static Answer answer(EvictionApi.Answer answer, Result ended) {
        Result result =
                switch (answer.result()) {
                    case Ended -> ended;
                    case Refused -> Result.Refused;
                    case Gone -> Result.Gone;
                };
        return new Answer(result, answer.detail());
    }

    private @Nullable Duration grace(Victim victim) {
        return victim.grace().compareTo(maxGrace) > 0 ? maxGrace : null;
    }

    private static ObjectReference reference(PodRef pod) {
        return Events.pod(pod.namespace(), pod.name(), pod.uid());
    }

    private static String seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private void writeEvent(
            PodRef pod, Events.Type type, String reason, String message, Instant now) {
        try {
            events.write(
                    reference(pod),
                    "%x".formatted(now.toEpochMilli()),
                    new Text(type, reason, "Reclaim", message),
                    now);
        } catch (KubernetesClientException e) {
            // The receipt has it, too.
            log.atWarn()
                    .addKeyValue("pod", pod)
                    .setCause(e)
                    .log("cannot write an Event about the eviction");
        }
    }
}
