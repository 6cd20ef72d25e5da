package io.gpusharing.nvml;

/**
 * The processes that hold a context on a device: compute, graphics and MPS clients together, each
 * pid once.
 *
 * <p>Seen from another process namespace than the first, the driver can list one process several
 * times (once per client object), so entries are merged by pid and memory is never summed over
 * them.
 */
public final class ProcessList {

    /** Stands for memory that the driver did not report. */
    public static final long UNKNOWN_MEMORY = -1;

    /** Pids in the namespace that the driver chose. */
    public long[] pid = new long[64];

    /** Bytes of GPU memory, or {@link #UNKNOWN_MEMORY}. */
    public long[] memory = new long[64];

    /** Whether MPS names the process as one of its clients. */
    public boolean[] isMpsClient = new boolean[64];

    /** How many entries are valid. */
    public int count;

    /** How many entries came from the MPS list, before merging: above 0 means an MPS node. */
    public int mpsClients;

    /** Empty, until a call fills it. */
    public ProcessList() {}

    /** Whether a pid is listed. */
    public boolean contains(long wanted) {
        return indexOf(wanted) >= 0;
    }

    /** Whether MPS serves the device, and a listed process is none of its clients. */
    public boolean servesBesideClients(long wanted) {
        int at = indexOf(wanted);
        return mpsClients > 0 && at >= 0 && !isMpsClient[at];
    }

    /** Forgets all entries. */
    public void clear() {
        count = 0;
        mpsClients = 0;
    }

    /**
     * @param client whether the MPS list has it
     * @param bytes as NVML reports it. All ones means not available. So does 0: a process with a
     *     context always holds memory, and drivers 535.113 to 560 report 0 inside containers.
     */
    void add(long newPid, long bytes, boolean client) {
        long known = bytes <= 0 ? UNKNOWN_MEMORY : bytes;
        int at = indexOf(newPid);
        if (at >= 0) {
            memory[at] = Math.max(memory[at], known);
            isMpsClient[at] |= client;
            return;
        }
        if (count == pid.length) {
            pid = java.util.Arrays.copyOf(pid, count * 2);
            memory = java.util.Arrays.copyOf(memory, count * 2);
            isMpsClient = java.util.Arrays.copyOf(isMpsClient, count * 2);
        }
        pid[count] = newPid;
        memory[count] = known;
        isMpsClient[count] = client;
        count++;
    }

    private int indexOf(long wanted) {
        for (int i = 0; i < count; i++) {
            if (pid[i] == wanted) {
                return i;
            }
        }
        return -1;
    }
}
