package io.gpusharing.timekeeper.web;

import io.gpusharing.web.HeapParts;

/**
 * What the timekeeper's heap is for. Eight parts of thirty-two are for the service itself and the
 * pods that it knows, and stay free for the collector: with ten thousand metered pods 54 MiB were
 * in use. One is for the requests in progress on its few threads (server.tomcat.threads.max).
 *
 * @param connections how many may be open on the port for everybody
 * @param connectionsOfApiServers how many may be open on the port for the API server
 * @param reports bytes of the reports that are read or judged at once
 * @param reportWork bytes that are made of them while they are read as JSON
 */
public record HeapShares(
        int connections, int connectionsOfApiServers, int reports, int reportWork) {

    /** With a head of 64 KiB and a thousand headers, which are objects. */
    static final int CONNECTION_OF_AN_API_SERVER = 448 * 1024;

    /** A report is there as it came, and as what was read of it. */
    static final int COPIES_OF_A_REPORT = 2;

    /** The shares of this process. */
    public static HeapShares ofThisProcess() {
        return of(HeapParts.ofThisProcess());
    }

    /** Divides a heap. */
    static HeapShares of(HeapParts heap) {
        return new HeapShares(
                heap.count(18, HeapParts.WAITING_CONNECTION),
                heap.count(2, CONNECTION_OF_AN_API_SERVER),
                heap.bytes(2) / COPIES_OF_A_REPORT,
                heap.bytes(1));
    }
}
