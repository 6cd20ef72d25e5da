package io.gpusharing.nvml.fake;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The driver's history of one GPU: per entry how busy the engine was and ONE process, the one that
 * was caught; while nothing runs, the one that ran last. Co-runners are distinguished only by how
 * often each is caught.
 *
 * <p>So an H200 with driver 580 answers ({@code RecordedRingTest}): a process's percent is the sum
 * of its own entries over the number of those entries of the window that name a process which still
 * lives. With a process its entries go from every answer, and whoever comes into its place next is
 * told of them as of its own.
 */
final class Ring {

    private static final int JITTER = 1_000;

    private final List<FakeProcess> processes;
    private final long periodMicros;
    private final int size;
    private final long[] stamp;
    private final long[] busy;
    private final int[] place;
    private final int[] placeOf;
    private final long[] credit;
    private long entries;
    private final @Nullable Turns turns;
    private long upTo;
    private long newest;
    private int caughtLast = -1;

    /**
     * @param processes of this GPU; an entry names them by index
     * @param size how many entries are kept
     */
    Ring(List<FakeProcess> processes, int size, long periodMicros) {
        this(processes, size, periodMicros, null);
    }

    /**
     * @param turns who of them runs when, and so is caught; null where each is caught as often as
     *     it is busy
     */
    Ring(List<FakeProcess> processes, int size, long periodMicros, @Nullable Turns turns) {
        this.turns = turns;
        this.processes = processes;
        this.size = size;
        this.periodMicros = periodMicros;
        this.stamp = new long[size];
        this.busy = new long[size];
        this.place = new int[size];
        this.placeOf = places(processes);
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
            play(upTo, upTo + periodMicros, wallOfScenario);
        }
    }

    private void play(long from, long to, long wallOfScenario) {
        if (turns != null) {
            play(turns, to, wallOfScenario);
            return;
        }
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
            caughtLast = caught;
        }
        // In hundredths of a percent of the period, never above the whole.
        add(to + wallOfScenario, Math.min(10_000, total * 100 / periodMicros), caughtLast);
    }

    /** As recorded, an entry ends up to a millisecond earlier or later. */
    private void play(Turns played, long to, long wallOfScenario) {
        long at = to <= 0 ? to : to - JITTER + played.random(2 * JITTER);
        long before = played.busy();
        played.advance(at);
        long share = (played.busy() - before) * 10_000 / Math.max(1, at - newest);
        add(at + wallOfScenario, Math.min(10_000, share), played.last());
        newest = at;
    }

    /** How long a process has computed in its turns; negative where they are not played. */
    long done(int process) {
        return turns == null ? -1 : turns.done(process);
    }

    /**
     * Adds an entry.
     *
     * @param share hundredths of a percent of the period
     * @param caught the process that it names; negative for none
     */
    void add(long at, long share, int caught) {
        int next = (int) (entries++ % size);
        stamp[next] = at;
        busy[next] = share;
        place[next] = caught < 0 ? -1 : placeOf[caught];
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

    /** Each process's place in the driver's table: the first that is free when it starts. */
    private static int[] places(List<FakeProcess> processes) {
        int[] places = new int[processes.size()];
        List<Integer> byStart =
                IntStream.range(0, places.length)
                        .boxed()
                        .sorted(Comparator.comparingLong(i -> processes.get(i).fromMicros()))
                        .toList();
        for (int n = 0; n < byStart.size(); n++) {
            FakeProcess process = processes.get(byStart.get(n));
            List<Integer> taken =
                    byStart.subList(0, n).stream()
                            .filter(other -> processes.get(other).alive(process.fromMicros()))
                            .map(other -> places[other])
                            .toList();
            places[byStart.get(n)] =
                    IntStream.iterate(0, i -> i + 1)
                            .filter(i -> !taken.contains(i))
                            .findFirst()
                            .orElseThrow();
        }
        return places;
    }

    private boolean isLiving(int inPlace, long now) {
        for (int i = 0; i < placeOf.length; i++) {
            FakeProcess process = processes.get(i);
            if (placeOf[i] == inPlace && process.alive(now) && process.hostPid() >= 0) {
                return true;
            }
        }
        return false;
    }

    /** Percent of the window that a process kept the GPU busy; negative where it has no entry. */
    int percent(int process, long lastSeen, long now) {
        long own = 0;
        int ownEntries = 0;
        int all = 0;
        for (long i = oldest(); i < entries && processes.get(process).alive(now); i++) {
            int at = (int) (i % size);
            if (stamp[at] > lastSeen && place[at] >= 0 && isLiving(place[at], now)) {
                all++;
                if (place[at] == placeOf[process]) {
                    own += busy[at];
                    ownEntries++;
                }
            }
        }
        return ownEntries == 0 ? -1 : (int) ((own + all * 100L - 1) / (all * 100L));
    }

    /** The newest entry of a process. */
    long stamp(int process) {
        long newest = 0;
        for (long i = oldest(); i < entries; i++) {
            int at = (int) (i % size);
            if (place[at] == placeOf[process]) {
                newest = stamp[at];
            }
        }
        return newest;
    }

    long stampOf(int back) {
        return stamp[(int) ((entries - 1 - back) % size)];
    }

    long percentOf(int back) {
        return busy[(int) ((entries - 1 - back) % size)] / 100;
    }
}
