package io.gpusharing.nvml.fake;

import java.util.List;

/**
 * The driver's history of one GPU: per entry the engine's busy share and ONE process, the one that
 * was caught. Co-runners are distinguished only by how often each is caught.
 *
 * <p>How the driver aggregates its ring into one row per process is not public. Supposed here, and
 * only here: the sum of a process's own entries over the number of all entries in the window,
 * rounded to whole percent. Change it when hardware says otherwise.
 */
final class Ring {

    private final List<FakeProcess> processes;
    private final long periodMicros;
    private final int size;
    private final long[] stamp;
    private final long[] busy;
    private final int[] owner;
    private final long[] credit;
    private long entries;
    private long upTo;

    /**
     * @param processes of this GPU; an entry names them by index
     * @param size how many entries are kept
     */
    Ring(List<FakeProcess> processes, int size, long periodMicros) {
        this.processes = processes;
        this.size = size;
        this.periodMicros = periodMicros;
        this.stamp = new long[size];
        this.busy = new long[size];
        this.owner = new int[size];
        this.credit = new long[processes.size()];
        this.upTo = -size * periodMicros;
    }

    /** Fills the ring up to this moment of the scenario. */
    void advance(long now, long wallOfScenario) {
        long behind = (now - upTo) / periodMicros;
        if (behind > size) {
            upTo += (behind - size) * periodMicros;
        }
        for (; upTo + periodMicros <= now; upTo += periodMicros) {
            add(upTo, upTo + periodMicros, wallOfScenario);
        }
    }

    private void add(long from, long to, long wallOfScenario) {
        long total = 0;
        int caught = -1;
        for (int i = 0; i < processes.size(); i++) {
            long own = processes.get(i).busyHundredths(from, to);
            credit[i] += own;
            total += own;
            if (own > 0 && (caught < 0 || credit[i] > credit[caught])) {
                caught = i;
            }
        }
        if (caught >= 0) {
            credit[caught] -= total;
        }
        int at = (int) (entries++ % size);
        stamp[at] = to + wallOfScenario;
        // In hundredths of a percent of the period, never above the whole.
        busy[at] = Math.min(10_000, total * 100 / periodMicros);
        owner[at] = caught;
    }

    int size() {
        return size;
    }

    private long oldest() {
        return Math.max(0, entries - size);
    }

    /** How many entries are newer than this. */
    int newerThan(long lastSeen) {
        int count = 0;
        for (long i = oldest(); i < entries; i++) {
            count += stamp[(int) (i % size)] > lastSeen ? 1 : 0;
        }
        return count;
    }

    /** Percent of the window that a process kept the GPU busy; 0 for none. */
    int percent(int process, long lastSeen, Scenario.Stamp reading) {
        long own = 0;
        int all = 0;
        int allUpToOwn = 0;
        for (long i = oldest(); i < entries; i++) {
            int at = (int) (i % size);
            if (stamp[at] > lastSeen) {
                all++;
                if (owner[at] == process) {
                    own += busy[at];
                    allUpToOwn = all;
                }
            }
        }
        int over = reading == Scenario.Stamp.OWN ? allUpToOwn : all;
        return own == 0 ? 0 : (int) Math.max(1, (own + over * 50L) / (over * 100L));
    }

    /** The newest entry, or the newest of a process. */
    long stamp(int process, Scenario.Stamp reading) {
        long newest = 0;
        for (long i = oldest(); i < entries; i++) {
            int at = (int) (i % size);
            if (reading == Scenario.Stamp.NEWEST || owner[at] == process) {
                newest = stamp[at];
            }
        }
        return newest;
    }

    long stampOf(int back) {
        return stamp[(int) ((entries - 1 - back) % size)];
    }

    long percentOf(int back) {
        return (busy[(int) ((entries - 1 - back) % size)] + 50) / 100;
    }
}
