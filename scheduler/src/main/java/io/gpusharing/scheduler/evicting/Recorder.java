package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.Survey.result;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes down how far a plan has come, each step once: whoever is late is told by a conflict. */
final class Recorder {

    private final PlanStore store;
    private final EvictionMetrics metrics;

    Recorder(PlanStore store, EvictionMetrics metrics) {
        this.store = store;
        this.metrics = metrics;
    }

    /**
     * Says that the API server is going to be asked.
     *
     * @param known what became of victims that are not asked any more
     * @return empty if somebody else has written
     */
    Optional<Plan> planned(Plan plan, Map<String, Answer> known, Instant now) {
        // Of one that is taken up again the first instant: it may have been carried out since.
        Instant begun =
                plan.phase() == Phase.Planned && plan.plannedAt() != null ? plan.plannedAt() : now;
        return store.write(
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
    Optional<Plan> deleting(Plan plan, Victim victim, @Nullable String refusal) {
        Map<String, Answer> marked = new LinkedHashMap<>();
        plan.victims()
                .forEach(it -> plan.answer(it).ifPresent(answer -> marked.put(it.uid(), answer)));
        marked.put(victim.uid(), new Answer(victim.uid(), Result.Deleted.name(), refusal));
        Status before = plan.object().getStatus();
        return store.write(
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
    boolean over(Plan plan, Map<String, Answer> answers, String reason, Instant now) {
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
        if (!status.equals(before) && store.write(plan, status).isEmpty()) {
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

    private static @Nullable List<Answer> inOrder(Plan plan, Map<String, Answer> answers) {
        return answers.isEmpty()
                ? null
                : plan.victims().stream()
                        .map(Victim::uid)
                        .filter(answers::containsKey)
                        .map(answers::get)
                        .map(Recorder::bounded)
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
