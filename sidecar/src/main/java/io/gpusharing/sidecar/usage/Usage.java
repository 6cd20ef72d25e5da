package io.gpusharing.sidecar.usage;

import java.util.List;

/**
 * Everything a meter counted since its run began.
 *
 * @param unasked pods that use a GPU that they were not given; from agents alone
 * @param exceeded pods that hold more memory of a GPU than they were given; from agents alone
 * @param running what runs now; from agents alone
 */
public record Usage(
        List<PodUse> pods,
        List<Unattributed> unattributed,
        List<Unasked> unasked,
        List<MemoryExceeded> exceeded,
        Running running) {

    /**
     * What runs on the GPUs.
     *
     * @param isWhole whether that is known of all of them: then a pod that is not named runs
     *     nothing
     */
    public record Running(boolean isWhole, List<PodProcesses> pods) {

        public static final Running UNKNOWN = new Running(false, List.of());
    }

    /** Busy time of one GPU that belongs to no pod, in microseconds of a whole GPU. */
    public record Unattributed(String uuid, long gpuMicroseconds) {}

    /**
     * A pod that uses a GPU that it was not given.
     *
     * @param devices those GPUs, where our device plugin gave what the pod has; empty where only
     *     the kubelet is known to have given it none
     */
    public record Unasked(String uid, String namespace, String pod, List<String> devices) {}

    /**
     * A pod that holds more memory of a GPU than it was given.
     *
     * @param device the GPU
     * @param usedBytes what all its processes hold there together
     */
    public record MemoryExceeded(
            String uid,
            String namespace,
            String pod,
            String device,
            long usedBytes,
            long grantedBytes) {}
}
