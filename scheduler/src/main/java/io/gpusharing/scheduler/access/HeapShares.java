package io.gpusharing.scheduler.access;

import io.gpusharing.scheduler.explaining.PlacementQuestions;
import io.gpusharing.web.HeapParts;
import io.gpusharing.wire.ExplanationQuestion;

/**
 * What the scheduler's heap is for. Eighteen parts of thirty-two are for the service itself, for
 * what it knows of the cluster, and stay free for the collector. The timekeeper's questions take
 * four of them at most; it has bounded itself what people ask.
 *
 * @param connections how many may be open: a kube-scheduler needs a handful, and any client of the
 *     cluster may open one
 * @param questions bytes that are made of questions while they are answered
 * @param explanation the most bytes of a question why a pod waits
 */
record HeapShares(int connections, int questions, int explanation) {

    /** Bytes that are made of each byte of a pod: containers without a word, as objects. */
    private static final int WEIGHT_OF_A_POD = 200;

    /** The shares of this process. */
    static HeapShares ofThisProcess() {
        return of(HeapParts.ofThisProcess());
    }

    /** Divides a heap. */
    static HeapShares of(HeapParts heap) {
        return new HeapShares(
                heap.count(8, HeapParts.CONNECTION),
                heap.bytes(6),
                Math.min(
                        ExplanationQuestion.MOST_BYTES,
                        heap.bytes(4) / (PlacementQuestions.AT_ONCE * WEIGHT_OF_A_POD)));
    }
}
