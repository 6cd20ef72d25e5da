package io.gpusharing.scheduler.evicting;

import static io.gpusharing.kubernetes.EvictionPlan.result;
import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code GpuEviction} objects, one at a time, and writes into them how far each plan has
 * come. Each step is written once: a writer that is late is told by a conflict.
 */
final class PlanStore {

    private final KubernetesClient client;
    private final UnreadableObjects unreadable;
    private final EvictionMetrics metrics;

    PlanStore(KubernetesClient client, UnreadableObjects unreadable, EvictionMetrics metrics) {
        this.client = PromptClient.of(client);
        this.unreadable = unreadable;
        this.metrics = metrics;
    }

    /**
     * The plan as it is stored now: a watch may be late, and what was taken back meanwhile is not
     * carried out.
     *
     * @return empty if it is gone, replaced by another one of its name, or cannot be read
     */
    Optional<EvictionPlan> read(EvictionPlan known) {
        GpuEviction object = client.resources(GpuEviction.class).withName(known.name()).get();
        return object == null || !known.uid().equals(object.getMetadata().getUid())
                ? Optional.empty()
                : unreadable.read(object, EvictionPlan::of);
    }

    /**
     * Whether nothing is to be done any more for the plan of this name.
     *
     * @throws RuntimeException if a later version wrote it
     */
    boolean isOver(String name) {
        GpuEviction object = client.resources(GpuEviction.class).withName(name).get();
        return object != null && !object.isOpen();
    }

    /**
     * Asks for an eviction; nothing happens if one of its name is there.
     *
     * @return whether none was
     */
    boolean ask(GpuEviction eviction) {
        return GpuEvictions.create(client, eviction);
    }

    /**
     * Says that the API server is going to be asked.
     *
     * @param known what became of victims that are not asked any more
     * @return empty if somebody else has written
     */
    Optional<EvictionPlan> planned(EvictionPlan plan, Map<String, Answer> known, Instant now) {
        // Of one that is taken up again the first instant: it may have been carried out since.
        Instant begun =
                plan.phase() == Phase.Planned && plan.plannedAt() != null ? plan.plannedAt() : now;
        return write(
                plan,
                new Status(
                        Phase.Planned.name(),
                        begun.truncatedTo(ChronoUnit.MICROS).toString(),
                        inOrder(plan, known),
                        plan.refusedSince(),
                        null,
                        null));
    }

    /**
     * Says that a pod is going to be deleted.
     *
     * @return empty if somebody else has written
     */
    Optional<EvictionPlan> deleting(EvictionPlan plan, Victim victim, @Nullable String refusal) {
        Map<String, Answer> marked = new LinkedHashMap<>();
        plan.victims()
                .forEach(it -> plan.answer(it).ifPresent(answer -> marked.put(it.uid(), answer)));
        marked.put(victim.uid(), new Answer(victim.uid(), Result.Deleted.name(), refusal));
        Status before = plan.object().getStatus();
        return write(
                plan,
                new Status(
                        before.phase(),
                        before.plannedAt(),
                        inOrder(plan, marked),
                        before.refusedSince(),
                        null,
                        null));
    }

    /**
     * Says what became of all victims.
     *
     * @param answers of each of them
     * @param reason why nobody goes, where nobody does and the API server has not refused
     * @return whether it is written
     */
    boolean over(EvictionPlan plan, Map<String, Answer> answers, String reason, Instant now) {
        boolean refused = answers.values().stream().anyMatch(it -> result(it) == Result.Refused);
        Phase phase =
                answers.values().stream().anyMatch(it -> result(it).ended())
                        ? Phase.Done
                        : refused ? Phase.Refused : Phase.NotDone;
        Status before = plan.object().getStatus();
        var status =
                new Status(
                        phase.name(),
                        before == null ? null : before.plannedAt(),
                        inOrder(plan, answers),
                        phase == Phase.Refused && plan.refusedSince() == null
                                ? now.truncatedTo(ChronoUnit.MICROS).toString()
                                : plan.refusedSince(),
                        phase == Phase.NotDone ? reason : null,
                        null);
        // Refused once more, in the same words.
        if (!status.equals(before) && write(plan, status).isEmpty()) {
            return false;
        }
        plan.victims()
                .forEach(victim -> {
                    Answer answer = answers.get(victim.uid());
                    if (answer != null) {
                        metrics.answered(plan.cause(), victim, result(answer));
                    }
                });
        return true;
    }

    /**
     * Says what became of the waiter.
     *
     * @return whether it is written
     */
    boolean settled(EvictionPlan plan, Outcome outcome) {
        Status before = plan.object().getStatus();
        var status =
                new Status(
                        before.phase(),
                        before.plannedAt(),
                        before.victims(),
                        before.refusedSince(),
                        before.reason(),
                        outcome);
        if (write(plan, status).isEmpty()) {
            return false;
        }
        metrics.settled(outcome.helped());
        return true;
    }

    /**
     * Writes a status, if nobody has written anything about the plan since it was read.
     *
     * @return the plan with that; empty if somebody has, or has deleted it
     */
    private Optional<EvictionPlan> write(EvictionPlan plan, Status status) {
        var changed = new GpuEviction();
        changed.setMetadata(plan.object().getMetadata());
        changed.setSpec(plan.object().getSpec());
        changed.setStatus(status);
        try {
            return Optional.of(EvictionPlan.of(client.resource(changed).updateStatus()));
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT || e.getCode() == HTTP_NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static @Nullable List<Answer> inOrder(EvictionPlan plan, Map<String, Answer> answers) {
        return answers.isEmpty()
                ? null
                : plan.victims().stream()
                        .map(Victim::uid)
                        .filter(answers::containsKey)
                        .map(answers::get)
                        .map(PlanStore::bounded)
                        .toList();
    }

    /** A webhook of others may say a megabyte. */
    private static Answer bounded(Answer answer) {
        String detail = answer.detail();
        return detail == null
                ? answer
                : new Answer(answer.uid(), answer.result(), GpuEviction.inShort(detail));
    }
}
