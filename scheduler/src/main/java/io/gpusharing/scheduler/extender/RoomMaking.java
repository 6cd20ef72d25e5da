package io.gpusharing.scheduler.extender;

import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.preemption.Preemption;

/** Keeps room for whom it is made. */
public interface RoomMaking {

    /**
     * Keeps the GPUs that the pod will have once these victims have ended.
     *
     * @throws RuntimeException if it is not sure that they are kept
     */
    void keep(GpuPod pod, Preemption chosen);
}
