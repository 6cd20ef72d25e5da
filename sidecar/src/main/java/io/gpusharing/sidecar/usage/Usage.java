package io.gpusharing.sidecar.usage;

import java.util.List;

/**
 * Everything a meter counted since its run began.
 *
 * @param unasked pods that use a GPU and were given none; only where kubelet's table can be read
 */
public record Usage(List<PodUse> pods, List<Unattributed> unattributed, List<Unasked> unasked) {

    /** Busy time of one GPU that belongs to no pod, in microseconds of a whole GPU. */
    public record Unattributed(String uuid, long gpuMicroseconds) {}

    /** A pod that uses a GPU without having asked for one. */
    public record Unasked(String uid, String namespace, String pod) {}
}
