package io.gpusharing.web;

/**
 * The heap of a process, in thirty-two parts. A service gives some of them to what comes from
 * outside, which is counted with the most memory that each of it takes, and keeps the others for
 * itself and the collector: so no load ends the process. The heap is a part of the container's
 * limit, and a higher limit allows more of everything.
 *
 * @param heap its most bytes
 */
public record HeapParts(long heap) {

    /** How many parts there are. */
    public static final int ALL = 32;

    /** Bytes that a TLS connection takes, as was measured, while no request is on it. */
    public static final int QUIET_CONNECTION = 72 * 1024;

    /**
     * Bytes that it takes at most while the head of a request comes: 110 KiB, as was measured, and
     * the objects of fifty headers.
     */
    public static final int WAITING_CONNECTION = 124 * 1024;

    /**
     * Bytes that it takes with a request on it: also 8 KiB of a body that nothing was taken for, as
     * much of the answer, the objects of Tomcat and of a thread.
     */
    public static final int CONNECTION = 160 * 1024;

    /** The heap of this process. */
    public static HeapParts ofThisProcess() {
        return new HeapParts(Runtime.getRuntime().maxMemory());
    }

    /** Bytes in some of the parts. */
    public int bytes(int parts) {
        return (int) Math.min(Integer.MAX_VALUE, heap / ALL * parts);
    }

    /** How many of what takes so many bytes each some of the parts are enough for. */
    public int count(int parts, int bytesOfEach) {
        return bytes(parts) / bytesOfEach;
    }
}
