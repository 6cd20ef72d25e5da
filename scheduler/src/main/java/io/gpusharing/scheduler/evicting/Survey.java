package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What was found of a plan's victims.
 *
 * @param there pods that may be evicted
 * @param spared why a pod may not be evicted that is there
 * @param answers what became of a pod that is not, by its UID
 */
record Survey(Map<Victim, Pod> there, Map<Victim, String> spared, Map<String, Answer> answers) {

    static Survey empty() {
        return new Survey(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    /** Whether a pod has ended by this plan. */
    boolean hasEnded() {
        return answers.values().stream().anyMatch(it -> result(it).ended());
    }

    /** Why one of them stays, with its name; empty if all may go. */
    Optional<String> whyNot() {
        return spared.entrySet().stream()
                .findFirst()
                .map(it -> "%s %s".formatted(name(it.getKey()), it.getValue()));
    }

    static Result result(Answer answer) {
        return Result.valueOf(answer.result());
    }

    /** As people name a pod: {@code team-a/train}. */
    static String name(Victim victim) {
        return victim.namespace() + "/" + victim.name();
    }
}
