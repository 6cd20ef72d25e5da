package io.gpusharing.timekeeper.web;

import io.gpusharing.web.HeapParts;

/**
 * What the timekeeper's heap is for. {@link #SERVICE Twelve} parts of thirty-two are for the
 * service itself; what comes from outside gets the others, and never more.
 *
 * @param connections how many may be open on the port for everybody
 * @param connectionsOfApiServers how many may be open on the port for the API server
 * @param threadsOfApiServers how many questions are read and answered at once on that port
 * @param reports bytes of the reports that are read or judged at once
 * @param reportWork bytes that are made of them while they are read as JSON
 * @param questions bytes of the questions about new pods that are read at once, and of what is made
 *     of them
 */
public record HeapShares(
        int connections,
        int connectionsOfApiServers,
        int threadsOfApiServers,
        int reports,
        int reportWork,
        int questions) {

    /**
     * At the chart's limit 83 MiB: with ten thousand metered pods 54 were in use, and a pod of 1.5
     * MB takes up to 29 while it is read.
     */
    static final int SERVICE = 12;

    /** Heads that have come in part on the port for everybody. */
    public static final int UNFINISHED_HEADS = 32;

    /** The same on the port for the API server, which sends a head in pieces of 4 KiB. */
    public static final int UNFINISHED_HEADS_OF_API_SERVERS = 8;

    /** As server.tomcat.threads.max says: each may be at a request. */
    static final int THREADS = 128;

    /** What all threads and unfinished heads of the port for everybody take beside connections. */
    static final int REQUESTS =
            THREADS * (HeapParts.CONNECTION - HeapParts.QUIET_CONNECTION)
                    + UNFINISHED_HEADS
                            * (HeapParts.WAITING_CONNECTION - HeapParts.QUIET_CONNECTION);

    /** What a head of 64 KiB with a thousand headers, which are objects, takes. */
    static final int HEAD_OF_AN_API_SERVER = 376 * 1024;

    private static final int MOST_THREADS_OF_API_SERVERS = 16;

    /** A report is there as it came, and as what was read of it. */
    static final int COPIES_OF_A_REPORT = 2;

    /**
     * How much more memory than a report itself takes what is made of it while it is read, where a
     * tenant has written it: fields that we do not know, each of whose names is remembered.
     */
    public static final int WEIGHT_OF_A_REPORT = 16;

    /** The most bytes of a report: what is made of a larger one is more than there is for it. */
    public int largestReport() {
        return reportWork / WEIGHT_OF_A_REPORT;
    }

    /** The shares of this process. */
    public static HeapShares ofThisProcess() {
        return of(HeapParts.ofThisProcess());
    }

    /** Divides a heap. */
    static HeapShares of(HeapParts heap) {
        int heads =
                Math.min(
                        MOST_THREADS_OF_API_SERVERS + UNFINISHED_HEADS_OF_API_SERVERS,
                        heap.count(2, HEAD_OF_AN_API_SERVER));
        return new HeapShares(
                (heap.bytes(10) - REQUESTS) / HeapParts.QUIET_CONNECTION,
                (heap.bytes(3) - heads * HEAD_OF_AN_API_SERVER) / HeapParts.QUIET_CONNECTION,
                heads - UNFINISHED_HEADS_OF_API_SERVERS,
                heap.bytes(2) / COPIES_OF_A_REPORT,
                heap.bytes(1),
                heap.bytes(4));
    }
}
