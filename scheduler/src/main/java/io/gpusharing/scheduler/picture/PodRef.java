package io.gpusharing.scheduler.picture;

import io.gpusharing.kubernetes.PodFacts;

/** A pod, as receipts and Events name it. */
public record PodRef(String uid, String namespace, String name) {

    /** Who the pod is. */
    public static PodRef of(PodFacts pod) {
        return new PodRef(pod.uid().toString(), pod.namespace(), pod.name());
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
