package io.gpusharing.sidecar.meter;

import java.util.List;

/** Everything a meter counted since its run began. */
public record Usage(List<PodUse> pods, List<Unattributed> unattributed) {

    /** Busy time of one GPU that belongs to no pod, in microseconds of a whole GPU. */
    public record Unattributed(String uuid, long gpuMicroseconds) {}
}
