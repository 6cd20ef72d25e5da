package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;

/** A pod that runs, and of which the kubelet's table and our grants do not say the same. */
public record Disagreement(Kind kind, PodName pod) {

    /** What does not agree. */
    public enum Kind {
        /**
         * The kubelet's table gives it units of ours, and no grant counts its GPUs: another plugin
         * has started it, or what was granted was lost.
         */
        UNGRANTED,
        /**
         * It was granted GPUs, and the kubelet's table gives it nothing: the kubelet's state was
         * lost, and its units are given away again. Its GPUs are not.
         */
        UNALLOCATED
    }
}
