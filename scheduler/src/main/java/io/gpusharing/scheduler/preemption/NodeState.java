package io.gpusharing.scheduler.preemption;

import io.gpusharing.placement.Gpu;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * A node, and who may go from it.
 *
 * @param amounts what is free in sum once all of the gangs have gone
 * @param gpus what is free of each GPU then
 * @param nominated what pods take for which room is being made there
 * @param left when those have ended that are being deleted, and that are not counted here
 */
record NodeState(
        String node,
        Amounts amounts,
        List<Gpu> gpus,
        List<Gang> gangs,
        Amounts nominated,
        Instant left) {

    /**
     * Pods that go together or not at all.
     *
     * @param requests what they take of the node's sums
     * @param held what they hold of its GPUs
     */
    record Gang(List<RunningPod> pods, Amounts requests, List<GpuHold> held) {

        /** By the most important pod of each. */
        static final Comparator<Gang> MOST_IMPORTANT_FIRST =
                Comparator.comparing(
                        gang ->
                                gang.pods().stream()
                                        .min(RunningPod.MOST_IMPORTANT_FIRST)
                                        .orElseThrow(),
                        RunningPod.MOST_IMPORTANT_FIRST);
    }
}
