package io.gpusharing.scheduler.access;

import io.gpusharing.web.HeapParts;

/**
 * What the extender's heap is for. Eighteen parts of thirty-two are for the service itself, for
 * what it knows of the cluster, and stay free for the collector.
 *
 * @param connections how many may be open: a kube-scheduler needs a handful, and any client of the
 *     cluster may open one
 * @param questions bytes that are made of questions while they are answered
 */
record HeapShares(int connections, int questions) {

    /** The shares of this process. */
    static HeapShares ofThisProcess() {
        return of(HeapParts.ofThisProcess());
    }

    /** Divides a heap. */
    static HeapShares of(HeapParts heap) {
        return new HeapShares(heap.count(8, HeapParts.CONNECTION), heap.bytes(6));
    }
}
