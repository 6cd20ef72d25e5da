package io.gpusharing.scheduler.picture.reading;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.Reach;

/**
 * On which nodes the scheduler that a pod names can place it: room that is made elsewhere is made
 * in vain.
 *
 * @param places whether a scheduler asks us where pods fit; if none does, all of them go by sums
 * @param ours by which name pods call the scheduler that asks us
 */
public record SchedulerReach(boolean places, SchedulerName ours) {

    private static final String DEFAULT = "default-scheduler";

    /**
     * The reach of a pod's scheduler.
     *
     * @param ask what the pod asks for
     */
    Reach of(Pod pod, PodAsk ask) {
        // Of a pod that asks for nothing of ours we let every node pass.
        if (!places || ask.containers().isEmpty()) {
            return Reach.Everywhere;
        }
        String name = requireNonNullElse(pod.getSpec().getSchedulerName(), DEFAULT);
        String asking = ours.isNamed() ? ours.name() : DEFAULT;
        if (name.equals(asking)) {
            return Reach.Shared;
        }
        return name.equals(DEFAULT) ? Reach.BySums : Reach.NotShared;
    }
}
