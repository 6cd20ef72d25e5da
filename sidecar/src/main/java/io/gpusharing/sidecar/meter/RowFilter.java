package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.UtilizationRows;

/**
 * Drops rows that cannot be true: no process (but for the node), above 100 percent, not newer than
 * asked, or from the future. A pid that stands twice is dropped in a pod, where one of the two can
 * be another pod's host pid; seen from the node both are one process, and the newer row counts.
 */
final class RowFilter {

    private final boolean node;
    private long dropped;
    private long ambiguousRows;
    private boolean ambiguous;
    private boolean sawFuture;

    /**
     * @param node whether all processes of the node are seen, by the host's pids
     */
    RowFilter(boolean node) {
        this.node = node;
    }

    /** Rows that could not be true, so far. */
    long dropped() {
        return dropped;
    }

    /** Rows that two processes can have meant, so far. */
    long ambiguousRows() {
        return ambiguousRows;
    }

    /** Whether one of the last rows was dropped because two processes can be meant by it. */
    boolean isAmbiguous() {
        return ambiguous;
    }

    /** Whether one of the last rows was from the future. */
    boolean sawFuture() {
        return sawFuture;
    }

    /**
     * @param from the newest sample that was counted, by the driver's clock
     */
    void clean(UtilizationRows rows, long from, long wall) {
        int kept = 0;
        sawFuture = false;
        ambiguous = false;
        for (int i = 0; i < rows.count; i++) {
            boolean future = DeviceReading.isFuture(rows.timestamp[i], wall);
            sawFuture |= future;
            boolean credible =
                    // On the node, what the driver does for nobody is part of the whole.
                    (rows.pid[i] != 0 || node)
                            && rows.pid[i] != 0xFFFF_FFFFL
                            && rows.timestamp[i] > from
                            && !future
                            && rows.sm[i] <= 100;
            if (!credible) {
                dropped++;
                continue;
            }
            copy(rows, i, kept++);
        }
        rows.count = kept;
        dropDuplicates(rows);
    }

    private void dropDuplicates(UtilizationRows rows) {
        for (int i = 0; i < rows.count; i++) {
            boolean duplicate = false;
            for (int j = i + 1; j < rows.count; ) {
                if (rows.pid[j] != rows.pid[i]) {
                    j++;
                    continue;
                }
                duplicate = true;
                if (node && rows.timestamp[j] > rows.timestamp[i]) {
                    copy(rows, j, i);
                }
                copy(rows, --rows.count, j);
            }
            if (duplicate && !node) {
                ambiguousRows++;
                ambiguous = true;
                copy(rows, --rows.count, i);
                i--;
            }
        }
    }

    private static void copy(UtilizationRows rows, int from, int to) {
        rows.pid[to] = rows.pid[from];
        rows.timestamp[to] = rows.timestamp[from];
        rows.sm[to] = rows.sm[from];
    }
}
