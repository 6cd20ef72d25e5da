package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuLayout;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;

/**
 * The GPUs of one node and who holds them.
 *
 * @param all those on which containers may start, as if nobody held any
 * @param held by the UID of a pod: it is bound, or about to be, or room is kept for it, or it has
 *     gone and its device plugin counts it still
 */
public record HeldGpus(GpuLayout all, Map<String, List<GpuHold>> held) {

    public HeldGpus {
        held = Map.copyOf(held);
    }
}
