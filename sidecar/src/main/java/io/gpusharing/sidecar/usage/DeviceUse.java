package io.gpusharing.sidecar.usage;

import java.util.List;

/**
 * One pod on one device: cumulative counters since the run began, none of which ever falls.
 *
 * @param uuid NVML's name of the GPU or MIG device; {@code unknown} where none could be seen
 * @param basis what is used now
 * @param basisReason why no better one; for {@link Basis#PROCESS} empty, or what it lacks
 * @param gpuMicroseconds busy time in microseconds of one whole GPU
 * @param atMostMicroseconds the most that it can have been: more than was counted where others on
 *     the GPU computed, too, of whom each can have been caught in the place of another
 * @param memoryByteSeconds bytes held, integrated over covered time
 * @param coveredMicroseconds time that was measured
 * @param uncoveredMicroseconds time that was not; both add up to the time metered
 * @param memory what is held now; for a report see {@link Usage.MemoryExceeded}
 * @param unasked whether the pod uses it without having been given it; for a report see {@link
 *     Usage.Unasked}
 * @param measuredBy the basis of the last stretch of time that was measured
 * @param parts of the busy time, each on its basis; not part of a report
 */
public record DeviceUse(
        String uuid,
        Basis basis,
        String basisReason,
        long gpuMicroseconds,
        long atMostMicroseconds,
        long memoryByteSeconds,
        long coveredMicroseconds,
        long uncoveredMicroseconds,
        Memory memory,
        boolean unasked,
        Basis measuredBy,
        List<Part> parts) {

    /**
     * Memory of the device.
     *
     * @param usedBytes what the pod's processes hold together; 0 while unknown
     * @param grantedBytes what our device plugin gave the pod; 0 where it gave none in particular,
     *     as with whole GPUs, or where that is unknown
     * @param exceeded whether more is held than was given, and was for longer than it may take to
     *     notice that something was given back
     */
    public record Memory(long usedBytes, long grantedBytes, boolean exceeded) {

        public static final Memory UNKNOWN = new Memory(0, 0, false);
    }

    /**
     * A part of the busy time.
     *
     * @param containerId the runtime's id of the container; empty where it is not known, as of what
     *     was counted before a restart, or divided by weight
     * @param basis by which it was counted
     */
    public record Part(String containerId, Basis basis, long gpuMicroseconds) {}
}
