package io.gpusharing.timekeeper.reclaim;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
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
    private static final int TOO_MANY_REQUESTS = 429;

    private final KubernetesClient client;
    private final Events events;
    private final Duration maxGrace;

    Evictions(KubernetesClient client, Duration maxGrace) {
        // By itself the client asks again for 20 s after a 429; a PodDisruptionBudget's no is an
        // answer.
        this.client =
                client.newClient(new RequestConfigBuilder().withRequestRetryBackoffLimit(0).build())
                        .adapt(KubernetesClient.class);
        this.events = new Events(this.client, Names.TIMEKEEPER);
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
        PodRef pod = victim.pod();
        Eviction eviction =
                new EvictionBuilder()
                        .withNewMetadata()
                        .withNamespace(pod.namespace())
                        .withName(pod.name())
                        .endMetadata()
                        .withDeleteOptions(options(victim, dryRun))
                        .build();
        try {
            boolean done =
                    client.pods().inNamespace(pod.namespace()).withName(pod.name()).evict(eviction);
            return done
                    ? new Answer(Result.Evicted, "")
                    : new Answer(Result.Refused, "a PodDisruptionBudget does not let it go now");
        } catch (KubernetesClientException e) {
            return refused(e);
        }
    }

    /** With the grace that is its due, past every PodDisruptionBudget. */
    private Answer delete(Victim victim, Answer refusal) {
        PodRef pod = victim.pod();
        try {
            client.raw(
                    "/api/v1/namespaces/%s/pods/%s".formatted(pod.namespace(), pod.name()),
                    "DELETE",
                    options(victim, false));
            return new Answer(Result.Deleted, refusal.detail());
        } catch (KubernetesClientException e) {
            return refused(e);
        }
    }

    private DeleteOptions options(Victim victim, boolean dryRun) {
        var options =
                new DeleteOptionsBuilder()
                        .withApiVersion("v1")
                        .withKind("DeleteOptions")
                        // Another pod of the same name is not the one that was chosen.
                        .withNewPreconditions()
                        .withUid(victim.pod().uid())
                        .endPreconditions();
        if (victim.grace().compareTo(maxGrace) > 0) {
            options.withGracePeriodSeconds(maxGrace.toSeconds());
        }
        if (dryRun) {
            options.withDryRun("All");
        }
        return options.build();
    }

    private static Answer refused(KubernetesClientException e) {
        String message = said(e);
        return switch (e.getCode()) {
            // 409: the precondition failed, the pod of that name is another one.
            case HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT ->
                    new Answer(Result.Gone, "it was gone already");
            case TOO_MANY_REQUESTS, HttpURLConnection.HTTP_FORBIDDEN ->
                    new Answer(Result.Refused, message);
            // Its way to say that several PodDisruptionBudgets select the pod.
            case HttpURLConnection.HTTP_INTERNAL_ERROR -> {
                if (!message.contains("PodDisruptionBudget")) {
                    throw e;
                }
                yield new Answer(Result.Refused, message);
            }
            default -> throw e;
        };
    }

    private static String seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The API server's own words, without those of the client around them. */
    private static String said(KubernetesClientException e) {
        String own = e.getStatus() == null ? null : e.getStatus().getMessage();
        return String.valueOf(own == null ? e.getMessage() : own);
    }

    private void writeEvent(
            PodRef pod, Events.Type type, String reason, String message, Instant now) {
        try {
            events.write(
                    Events.pod(pod.namespace(), pod.name(), pod.uid()),
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
