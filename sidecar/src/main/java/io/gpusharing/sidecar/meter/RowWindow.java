package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.UtilizationRows;

/**
 * Over which stretch of time the driver averages a row's percent. NVIDIA leaves open what a row's
 * timestamp is, and three readings fit its text:
 *
 * <ul>
 *   <li>the newest entry of the window: the percent is over the window up to it;
 *   <li>the process's own newest entry, and the percent is over the window up to that;
 *   <li>the process's own newest entry, and the percent is over the whole window.
 * </ul>
 *
 * <p>Under the first two the window ends at the row's timestamp. The third shows by itself: asked
 * again a moment later from the same start, a process that was not caught meanwhile has the same
 * timestamp and a lower percent. Until one is known the earlier end counts, which is never too
 * much, and what the later one would add is kept aside.
 */
final class RowWindow {

    private static final int VOTES = 3;
    private static final int MOST_PROBES = 120;
    private static final long SHORTEST_PAUSE_MICROS = 160_000;

    /** Percents are whole numbers: what would fall by less than this says nothing by staying. */
    private static final long CLEARLY_LESS = 2;

    private int votesForStamp;
    private int votesForWhole;
    private int probes;
    private boolean news;

    /** Whether it is known; then it never changes again. */
    boolean isKnown() {
        return votesForStamp >= VOTES || isWhole();
    }

    /** Whether percents are known to be over the whole window. */
    boolean isWhole() {
        return votesForWhole >= VOTES;
    }

    /** Whether it became known since this was asked last. */
    boolean takeNewRows() {
        boolean now = news;
        news = false;
        return now;
    }

    /**
     * Whether another probe is worth its call; a driver that shows nothing is not asked for ever.
     */
    boolean mayProbe() {
        return probes++ < MOST_PROBES;
    }

    /** How long to wait before asking again: not always the same, as loads have rhythms. */
    long pauseMicros() {
        return SHORTEST_PAUSE_MICROS << probes % 3;
    }

    /**
     * Compares two answers to the same question.
     *
     * @param later the answer that was given later
     * @param window the length of the first answer's window
     * @param longer how much longer that of the second is
     */
    void compare(UtilizationRows earlier, UtilizationRows later, long window, long longer) {
        boolean moved = newest(later) > newest(earlier);
        boolean fell = false;
        boolean stayed = false;
        for (int i = 0; i < earlier.count; i++) {
            for (int j = 0; j < later.count; j++) {
                if (earlier.pid[i] == later.pid[j] && earlier.timestamp[i] == later.timestamp[j]) {
                    long fall = earlier.sm[i] * longer / (window + longer);
                    fell |= later.sm[j] < earlier.sm[i];
                    // Only where others were caught meanwhile has the window surely grown.
                    stayed |= moved && fall >= CLEARLY_LESS && later.sm[j] == earlier.sm[i];
                }
            }
        }
        if (fell != stayed) {
            votesForWhole = fell ? votesForWhole + 1 : 0;
            votesForStamp = stayed ? votesForStamp + 1 : 0;
            news = isKnown();
        }
    }

    private static long newest(UtilizationRows rows) {
        long newest = 0;
        for (int i = 0; i < rows.count; i++) {
            newest = Math.max(newest, rows.timestamp[i]);
        }
        return newest;
    }

    /** What a report says of it; empty where nothing needs to be said. */
    String remark() {
        if (isWhole()) {
            return "samples are shares of the whole window, as the driver's answers show";
        }
        return isKnown() || probes < MOST_PROBES
                ? ""
                : "it is not known whether samples are shares of the whole window; the lower number"
                        + " counts";
    }
}
