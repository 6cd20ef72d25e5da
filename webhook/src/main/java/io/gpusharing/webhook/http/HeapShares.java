package io.gpusharing.webhook.http;

/**
 * What the heap is for. Connections, bodies and what is made of them get parts of it that can never
 * be more than it has, so that no load ends the process, and more of each where it is larger.
 *
 * <p>A third is for the service itself: what it knows of the cluster. A sixteenth stays free for
 * the collector.
 *
 * @param connections how many may be open
 * @param usualBodies bytes of usual reviews that are read or wait
 * @param usualWork bytes that are made of usual reviews while they are decided
 * @param longBodies bytes of long reviews that are read or wait
 * @param longWork bytes that are made of long reviews while they are decided
 */
record HeapShares(int connections, int usualBodies, int usualWork, int longBodies, int longWork) {

    /**
     * TLS keeps 67 KiB of buffers for a connection; a request on it 8 KiB of head, 8 of answer, 8
     * of the body that nothing was taken for, a thread, and the objects of Tomcat.
     */
    private static final int OF_A_CONNECTION = 128 * 1024;

    private static final int PARTS = 32;

    /**
     * Divides a heap.
     *
     * @param heap its most bytes
     */
    static HeapShares of(long heap) {
        return new HeapShares(
                part(heap, 6) / OF_A_CONNECTION,
                part(heap, 2),
                part(heap, 2),
                part(heap, 3),
                part(heap, 6));
    }

    private static int part(long heap, int parts) {
        return (int) Math.min(Integer.MAX_VALUE, heap / PARTS * parts);
    }
}
