package io.gpusharing.timekeeper.reclaim.plan;

/** A pod, as receipts and Events name it. */
public record PodRef(String uid, String namespace, String name) {

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
