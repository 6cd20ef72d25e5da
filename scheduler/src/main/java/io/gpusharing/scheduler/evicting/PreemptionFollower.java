package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Finds out whether kube-scheduler ended those whom it was told it might end. */
final class PreemptionFollower {

    private final Surveyor surveyor;
    private final Recorder recorder;

    PreemptionFollower(Surveyor surveyor, Recorder recorder) {
        this.surveyor = surveyor;
        this.recorder = recorder;
    }

    /**
     * Writes down what became of the victims: once all of them have ended, or their time is over.
     *
     * @return whether that is written
     */
    boolean follow(Plan plan, Instant now) {
        Map<String, Answer> answers = new LinkedHashMap<>();
        for (Victim victim : plan.victims()) {
            Optional<Answer> answer = surveyor.preempted(plan, victim);
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
        return recorder.over(plan, answers, "kube-scheduler ended none of them", now);
    }
}
