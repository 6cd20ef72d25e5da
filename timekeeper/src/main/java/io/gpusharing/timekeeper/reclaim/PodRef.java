package io.gpusharing.timekeeper.reclaim;

/** A pod, as receipts and Events name it. */
record PodRef(String uid, String namespace, String name) {

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
