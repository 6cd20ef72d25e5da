package io.gpusharing.sidecar.usage;

import java.util.List;

/**
 * The processes of one pod on one GPU, as of the last look.
 *
 * @param uid the pod's
 * @param index NVML's number of the GPU; -1 where it has none
 * @param grantedBytes memory that our device plugin gave the pod there; 0 where it gave none in
 *     particular, as with whole GPUs, or where that is unknown
 * @param count how many there are
 * @param processes those with most memory, the first of them
 */
public record PodProcesses(
        String uid,
        String device,
        int index,
        long grantedBytes,
        int count,
        List<GpuProcess> processes) {

    /**
     * One of them.
     *
     * @param pid its number on the node
     * @param command the kernel's name of it; empty where that is unknown, or not told
     * @param memoryBytes of the GPU; 0 where the driver does not say it
     * @param busyPercent of the whole GPU, over some ten seconds; -1 where that is not measured
     */
    public record GpuProcess(long pid, String command, long memoryBytes, int busyPercent) {}

    /** The same with so many of them at most. */
    public PodProcesses first(int most) {
        return processes.size() <= most
                ? this
                : new PodProcesses(
                        uid, device, index, grantedBytes, count, processes.subList(0, most));
    }
}
