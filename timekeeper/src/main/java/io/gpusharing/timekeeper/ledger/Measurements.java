package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;

/** What node agents have measured. Reports of sidecars are left out: a tenant controls those. */
public interface Measurements {

    /**
     * A pod's counters, since it was bound.
     *
     * @param used busy time of whole GPUs, in micro-GPU-seconds
     * @param covered wall time that was measured, in microseconds, summed over its GPUs
     * @param gpus how many GPUs that were
     * @param last when the last report came
     */
    record Measured(long used, long covered, int gpus, Instant last) {

        /** Wall time in which all of the GPUs that it holds were measured. */
        public long coveredOf(long held) {
            return covered / Math.max(1, Math.max(gpus, held));
        }
    }

    /** By pod; those that no agent has measured are not in it. */
    Map<UUID, Measured> of(Collection<UUID> pods);
}
