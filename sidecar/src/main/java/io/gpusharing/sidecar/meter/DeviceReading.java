package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.nvml.Remedy;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.nvml.UtilizationRows;
import io.gpusharing.sidecar.attribution.Owner;
import io.gpusharing.sidecar.attribution.Viewpoint;
import org.jspecify.annotations.Nullable;

/**
 * What one tick read of one device: cleaned rows with their owners, the device's own history, the
 * list of processes. Owns the cursors into the driver's rings. Used by the NVML thread alone and
 * never under a lock, since any call may hang.
 */
final class DeviceReading {

    /** How much history the driver keeps per process. NVIDIA's ring wraps after about this. */
    static final long RING_MICROS = 10_000_000;

    /**
     * One or two odd answers of a call are bridged by the ring; three in a row are none to trust.
     */
    static final int ODD_ANSWERS_BEFORE_FALL = 3;

    private static final long LIST_EVERY_MICROS = 10_000_000;
    private static final long LIST_AT_MOST_EVERY_MICROS = 2_000_000;
    private static final long LONGEST_USUAL_PERIOD_MICROS = 200_000;
    private static final long HALF_A_PERIOD_MICROS = 80_000;
    private static final long FUTURE_MICROS = 5_000_000;
    private static final long IDLE_AFTER_MICROS = 2_000_000;
    private static final long SLOWEST_SAMPLE_MICROS = 1_000_000;

    final String uuid;
    final ProcessList list = new ProcessList();
    final UtilizationRows rows = new UtilizationRows();
    private final UtilizationRows probe = new UtilizationRows();

    /** Owner per clean row; null is nobody's. */
    @Nullable Owner[] owners = new @Nullable Owner[0];

    NvmlReturn listAnswer = NvmlReturn.NOT_READY;
    NvmlReturn rowsAnswer = NvmlReturn.NOT_READY;

    /** Clean rows are ready to be counted; false while an owner is still unknown. */
    boolean rowsReady;

    /** Whether a sample's pid was ever found in the list. */
    boolean everJoined;

    /** Whether a listed process was among this tick's rows. */
    boolean joined;

    /** Bytes in use on the whole device; 0 while unknown. */
    long memoryUsed;

    /** The start of the rows' windows: the newest row that was counted, by the driver's clock. */
    long rowsFrom;

    /** Over what the rows' percents are. */
    final RowWindow rowWindow = new RowWindow();

    /** The end of the rows' common window, by the driver's clock as far as known. */
    private long rowsEnd;

    final DeviceHistory history;
    final RowFilter filter;

    private final Viewpoint view;
    private int oddLists;
    private int oddRows;
    private long listedAt = Long.MIN_VALUE / 2;
    private long advancedAt;
    private @Nullable Owner heir;
    private boolean listFresh;

    DeviceReading(String uuid, Viewpoint view, long nowMicros, long wallMicros) {
        this.uuid = uuid;
        this.view = view;
        filter = new RowFilter(view.countsUnattributed());
        rowsFrom = wallMicros;
        history = new DeviceHistory(wallMicros);
        advancedAt = nowMicros;
    }

    /** The wall clock was set: what was seen last is moved by as much. */
    void wallJumped(long byMicros) {
        rowsFrom += byMicros;
        history.from += byMicros;
    }

    /** Reads the list if it is due; at once again after a single odd answer. */
    void readList(Nvml nvml, long handle, long now) {
        if (isFew(oddLists) || now - listedAt >= LIST_EVERY_MICROS) {
            refreshList(nvml, handle, now);
        }
    }

    private void refreshList(Nvml nvml, long handle, long now) {
        listedAt = now;
        listFresh = true;
        listAnswer = nvml.runningProcesses(handle, list);
        oddLists = listAnswer.ok() ? 0 : oddLists + 1;
        if (listAnswer.ok()) {
            view.listed(uuid, list, now);
        }
        memoryUsed = nvml.memoryInfo(handle).ok() ? Math.max(0, nvml.memoryUsed()) : 0;
    }

    /** Whether the list was read since this was asked last. */
    boolean takeListFresh() {
        boolean fresh = listFresh;
        listFresh = false;
        return fresh;
    }

    /** Reads busy shares per process. */
    void askRows(Nvml nvml, long handle, long wallBefore) {
        rowsEnd = wallBefore;
        rowsReady = false;
        joined = false;
        rowsAnswer = nvml.processUtilization(handle, rowsFrom, rows);
        if (!rowsAnswer.ok()) {
            rows.count = 0;
        }
        oddRows = isOdd(rowsAnswer) ? oddRows + 1 : 0;
    }

    /** Whether list or rows gave one odd answer or two, so that this tick is left to the ring. */
    boolean isBridged() {
        return isFew(Math.max(oddLists, oddRows));
    }

    private static boolean isFew(int odd) {
        return odd > 0 && odd < ODD_ANSWERS_BEFORE_FALL;
    }

    /** Whether an instant of the driver's clock cannot be true yet. */
    static boolean isFuture(long timestamp, long wall) {
        return timestamp > wall + FUTURE_MICROS;
    }

    static boolean isOdd(NvmlReturn answer) {
        return !answer.ok() && answer.remedy() != Remedy.NOTHING_NEW;
    }

    /** Cleans what {@link #askRows} read until now, and finds the owners. */
    void cleanRows(Nvml nvml, long handle, int visible, long now, long wall) {
        filter.clean(rows, rowsFrom, wall);
        for (int i = 0; i < rows.count; i++) {
            // Rubbish may pretend to be from the future; the window ends now at the latest.
            rowsEnd = Math.max(rowsEnd, Math.min(wall, rows.timestamp[i]));
        }
        if (anyUnknown(now) && listAnswer.ok()) {
            if (now - listedAt < LIST_AT_MOST_EVERY_MICROS) {
                // The ring remembers: leave the rows there until the list may be read again.
                return;
            }
            refreshList(nvml, handle, now);
        }
        if (owners.length < rows.count) {
            owners = new @Nullable Owner[rows.pid.length];
        }
        for (int i = 0; i < rows.count; i++) {
            joined |= list.contains(rows.pid[i]);
            owners[i] = owner(rows.pid[i], visible, now);
        }
        everJoined |= joined;
        rowsReady = !(filter.sawFuture() && rows.count == 0);
    }

    private @Nullable Owner owner(long pid, int visible, long now) {
        if (pid == 0) {
            return null;
        }
        Owner owner = view.owner(pid, list, now);
        if (owner != null || !view.vanished(pid, now)) {
            return owner;
        }
        // The process ended before it was read; on a GPU of one pod alone it was that pod's.
        String alone = view.soleOwner(uuid, visible);
        if (alone == null) {
            return null;
        }
        if (heir == null || !heir.podUid().equals(alone)) {
            heir = new Owner(alone, "");
        }
        return heir;
    }

    private boolean anyUnknown(long now) {
        for (int i = 0; i < rows.count; i++) {
            if (!view.knows(rows.pid[i], list, now)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The window of a row in microseconds, by the driver's clock alone. A length taken from our own
     * clock would be wrong by whatever lies between the last entry of the ring and this poll.
     */
    long window(int row) {
        return rowWindow.isWhole() ? wholeWindow() : stampedWindow(row);
    }

    private long stampedWindow(int row) {
        return Math.min(rows.timestamp[row] - rowsFrom, RING_MICROS);
    }

    private long wholeWindow() {
        return Math.clamp(rowsEnd - rowsFrom, 0, RING_MICROS);
    }

    /**
     * By how much the row's window is longer if percents are over the whole of it, as long as that
     * is open. It ends at the ring's newest entry: if it was of a process that has no row, it is
     * half a period old on average.
     */
    long doubtfulWindow(int row) {
        if (rowWindow.isKnown()) {
            return 0;
        }
        long newest = newestStamp();
        long end =
                rowsEnd - newest < LONGEST_USUAL_PERIOD_MICROS
                        ? newest
                        : rowsEnd - HALF_A_PERIOD_MICROS;
        return Math.max(0, Math.min(end - rowsFrom, RING_MICROS) - stampedWindow(row));
    }

    /**
     * Asks a second time, a moment later, as long as it is open over what percents are, and where
     * the answer can show it: where a process was not caught lately.
     */
    void probeRows(Nvml nvml, long handle, TimeSource time) {
        if (rowWindow.isKnown() || !anyCaughtLongAgo() || !rowWindow.mayProbe()) {
            return;
        }
        long before = time.monotonicMicros();
        time.pauseMicros(rowWindow.pauseMicros());
        if (nvml.processUtilization(handle, rowsFrom, probe).ok()) {
            rowWindow.compare(rows, probe, rowsEnd - rowsFrom, time.monotonicMicros() - before);
        }
    }

    private boolean anyCaughtLongAgo() {
        for (int i = 0; i < rows.count; i++) {
            if (rowsEnd - rows.timestamp[i] > LONGEST_USUAL_PERIOD_MICROS) {
                return true;
            }
        }
        return false;
    }

    private long newestStamp() {
        long newest = rowsFrom;
        for (int i = 0; i < rows.count; i++) {
            newest = Math.max(newest, rows.timestamp[i]);
        }
        return newest;
    }

    /** The rows were counted, or there was none. */
    void rowsDone(long now, long wall) {
        if (rows.count > 0) {
            // Whole windows join without a gap, so what their ends are off by evens out.
            rowsFrom = rowWindow.isWhole() ? rowsEnd : newest();
            advancedAt = now;
        } else if (now - advancedAt >= IDLE_AFTER_MICROS) {
            // Rows exist only for busy processes, so this silence is idleness and may be skipped.
            // One answer without rows alone is none: the next average then spans both windows.
            advancedAt = now;
            rowsFrom = Math.max(rowsFrom, wall - SLOWEST_SAMPLE_MICROS);
        }
    }

    /**
     * Where the next windows begin. In a pod that is the newest row of its own, if there is one:
     * what else the answer holds may be rubbish that pretends to be newer than the window.
     */
    private long newest() {
        long own = rowsFrom;
        for (int i = 0; i < rows.count; i++) {
            own = owners[i] == null ? own : Math.max(own, rows.timestamp[i]);
        }
        return view.countsUnattributed() || own == rowsFrom ? newestStamp() : own;
    }

    /** Lets the next list be read at once, for instance on a device that came back. */
    void forgetList() {
        listedAt = Long.MIN_VALUE / 2;
        list.clear();
        listAnswer = NvmlReturn.NOT_READY;
    }
}
