package io.gpusharing.nvml.fake;

import java.util.List;

/**
 * Processes that take turns on a GPU, two milliseconds each: each has work at the begin of its
 * period, and computes until that is done. Who runs at an instant is what the driver sees of it, so
 * who computes in step with the driver's sampling is seen always, or never. Played in steps of half
 * a millisecond.
 */
final class Turns {

    private static final long STEP = 500;
    private static final int STEPS_A_TURN = 4;
    private static final int MILLIONTHS = 1_000_000;

    private final List<FakeProcess> processes;
    private final boolean isRandom;
    private final long[] nextWork;
    private final long[] left;
    private final long[] done;
    private long seed = 20_260_302;
    private long upTo;
    private long busy;
    private int steps;
    private int last = -1;

    /**
     * @param processes of this GPU
     * @param isRandom whether their periods have half to three halves of the length, each with as
     *     much more or less of work
     */
    Turns(List<FakeProcess> processes, boolean isRandom) {
        this.processes = processes;
        this.isRandom = isRandom;
        this.nextWork = processes.stream().mapToLong(FakeProcess::fromMicros).toArray();
        this.left = new long[nextWork.length];
        this.done = new long[nextWork.length];
    }

    /** Plays until this moment of the scenario. */
    void advance(long now) {
        for (; upTo + STEP <= now; upTo += STEP) {
            step();
        }
    }

    private void step() {
        for (int i = 0; i < left.length; i++) {
            if (nextWork[i] <= upTo) {
                FakeProcess process = processes.get(i);
                long millionths = isRandom ? MILLIONTHS / 2 + random(MILLIONTHS) : MILLIONTHS;
                left[i] += process.onMicros() * millionths / MILLIONTHS;
                nextWork[i] += (process.onMicros() + process.offMicros()) * millionths / MILLIONTHS;
            }
        }
        if (last < 0 || left[last] <= 0 || steps == STEPS_A_TURN) {
            pass();
        }
        if (last >= 0 && left[last] > 0) {
            left[last] -= STEP;
            done[last] += STEP;
            busy += STEP;
            steps++;
        }
    }

    /** To the next that has work; where none has, nothing changes. */
    private void pass() {
        for (int i = 1; i <= left.length; i++) {
            int next = (last + i) % left.length;
            if (left[next] > 0) {
                last = next;
                steps = 0;
                return;
            }
        }
    }

    /** A number from 0 on and below this one. */
    long random(int below) {
        seed = seed * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
        return (seed >>> 33) % below;
    }

    /** How long any of them has computed, in microseconds. */
    long busy() {
        return busy;
    }

    /** Who runs, or ran last; negative while nobody has. */
    int last() {
        return last;
    }

    /** How long one has computed, in microseconds. */
    long done(int process) {
        return done[process];
    }
}
