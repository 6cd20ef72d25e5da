package io.gpusharing.webhook.http;

import io.gpusharing.web.HeapParts;

/**
 * What the webhook's heap is for. Eleven parts of thirty-two are for the service itself, for what
 * it knows of the cluster, and stay free for the collector.
 *
 * @param connections how many may be open
 * @param usualBodies bytes of usual reviews that are read or wait
 * @param usualWork bytes that are made of usual reviews while they are decided
 * @param longBodies bytes of long reviews that are read or wait
 * @param longWork bytes that are made of long reviews while they are decided
 */
record HeapShares(int connections, int usualBodies, int usualWork, int longBodies, int longWork) {

    /** Divides a heap. */
    static HeapShares of(HeapParts heap) {
        return new HeapShares(
                heap.count(8, HeapParts.CONNECTION),
                heap.bytes(2),
                heap.bytes(2),
                heap.bytes(3),
                heap.bytes(6));
    }
}
