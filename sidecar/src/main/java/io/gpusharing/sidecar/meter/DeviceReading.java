package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.nvml.Remedy;
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

    /** So far back the driver's history surely reaches; that of an H200 reaches 14 seconds. */
    static final long RING_MICROS = 10_000_000;

    /**
     * One or two odd answers of a call are bridged by the ring; three in a row are none to trust.
     */
    static final int ODD_ANSWERS_BEFORE_FALL = 3;

    private static final long LIST_EVERY_MICROS = 10_000_000;
    private static final long LIST_AT_MOST_EVERY_MICROS = 2_000_000;

    /** Where nobody's rows count, lists alone tell who was there: each tick. */
    private static final long LIST_WHILE_SPLIT_EVERY_MICROS = 500_000;

    private static final long FUTURE_MICROS = 5_000_000;
    private static final long PERIOD_MICROS = 200_000;

    final String uuid;
    final ProcessList list = new ProcessList();
    UtilizationRows rows = new UtilizationRows();
    private UtilizationRows rowsBefore = new UtilizationRows();

    /** Whether these are the last reading's, of processes that have ended since. */
    boolean rowsOfEnded;

    /** How much later than the history they were read. */
    long rowsLaterMicros;

    /** Owner per clean row; null is nobody's. */
    @Nullable Owner[] owners = new @Nullable Owner[0];

    private @Nullable Owner[] ownersBefore = owners;

    NvmlReturn listAnswer = NvmlReturn.NOT_READY;
    NvmlReturn rowsAnswer = NvmlReturn.NOT_READY;

    /** Clean rows are ready to be counted; false while an owner is still unknown. */
    boolean rowsReady;

    /** Whether a sample's pid was ever found in the list. */
    boolean everJoined;

    /** Whether a listed process was among this tick's rows. */
    boolean joined;

    /** Whether a row is that of MPS's server: then it is not known whose the time is. */
    boolean namesMpsServer;

    /** Bytes in use on the whole device; 0 while unknown. */
    long memoryUsed;

    final DeviceHistory history;
    final RowFilter filter;

    private final Viewpoint view;
    private int oddLists;
    private int oddRows;
    private long listedAt = Long.MIN_VALUE / 2;
    private @Nullable Owner heir;
    private boolean listFresh;

    /** Whether MPS was ever seen to serve the device. */
    private boolean servedByMps;

    DeviceReading(String uuid, Viewpoint view, long wallMicros) {
        this.uuid = uuid;
        this.view = view;
        filter = new RowFilter(view.countsUnattributed());
        history = new DeviceHistory(wallMicros);
    }

    /** The wall clock was set: what was seen last is moved by as much. */
    void wallJumped(long byMicros) {
        history.from += byMicros;
    }

    /**
     * Reads the list if it is due; at once again after a single odd answer.
     *
     * @param isSplit whether the device's time is divided among those who are listed
     */
    void readList(Nvml nvml, long handle, boolean isSplit, long now) {
        long every = isSplit || servedByMps ? LIST_WHILE_SPLIT_EVERY_MICROS : LIST_EVERY_MICROS;
        if (isFew(oddLists) || now - listedAt >= every) {
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
            servedByMps |= list.mpsClients > 0;
        }
        memoryUsed = nvml.memoryInfo(handle).ok() ? Math.max(0, nvml.memoryUsed()) : 0;
    }

    /** Whether the list was read since this was asked last. */
    boolean takeListFresh() {
        boolean fresh = listFresh;
        listFresh = false;
        return fresh;
    }

    /** Reads busy shares per process, over the same window as the device's history. */
    void askRows(Nvml nvml, long handle) {
        if (rowsReady && !rowsOfEnded) {
            swapRows();
        }
        rowsReady = false;
        rowsOfEnded = false;
        joined = false;
        namesMpsServer = false;
        rowsAnswer = nvml.processUtilization(handle, history.from, rows);
        if (!rowsAnswer.ok()) {
            rows.count = 0;
        }
        oddRows = isOdd(rowsAnswer) ? oddRows + 1 : 0;
    }

    /** Whether any call gave one odd answer or two, so that this tick is left to the ring. */
    boolean isBridged() {
        return isFew(Math.max(oddLists, oddRows)) || isFew(history.oddAnswers());
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
        filter.clean(rows, history.from, wall);
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
            Owner owner = owner(rows.pid[i], visible, now);
            owners[i] = owner;
            namesMpsServer |=
                    owner != null
                            && rows.sm[i] > 0
                            && view.servesMps(rows.pid[i], owner, uuid, list, now);
        }
        if (namesMpsServer && now - listedAt >= LIST_WHILE_SPLIT_EVERY_MICROS) {
            // For whom it computes says the list.
            servedByMps = true;
            refreshList(nvml, handle, now);
        }
        everJoined |= joined;
        rowsReady = !isOdd(rowsAnswer) && !(filter.sawFuture() && rows.count == 0);
        if (rowsReady && rows.count == 0 && history.isBusy()) {
            refreshList(nvml, handle, now);
            takeRowsOfEnded();
        }
    }

    /**
     * What was busy without any row did processes that have ended: so those of the last reading, as
     * far as they have.
     */
    private void takeRowsOfEnded() {
        swapRows();
        rowsBefore.count = 0;
        rowsOfEnded = true;
        int kept = 0;
        for (int i = 0; i < rows.count; i++) {
            if (listAnswer.ok() && !list.contains(rows.pid[i])) {
                rows.pid[kept] = rows.pid[i];
                rows.sm[kept] = rows.sm[i];
                owners[kept++] = owners[i];
            }
        }
        rows.count = kept;
    }

    private void swapRows() {
        UtilizationRows newer = rows;
        rows = rowsBefore;
        rowsBefore = newer;
        @Nullable Owner[] newerOwners = owners;
        owners = ownersBefore;
        ownersBefore = newerOwners;
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
     * How much of the device's busy time is that of the processes which have rows. A row's percent
     * is over those entries of the ring only that name a process which still lives, and of a
     * process that is new over what another left in its place: seen on an H200. So percents say how
     * busy processes were beside each other, and the device's history says how long. Only where all
     * of them together fall short of it by more than rounding is the rest no process's.
     *
     * @param percents of all rows together
     * @param device busy hundredths of a microsecond of the device, or {@link
     *     DeviceHistory#UNKNOWN}
     */
    long ofProcesses(long percents, long device) {
        long window = history.window();
        if (device == DeviceHistory.UNKNOWN) {
            return Math.min(percents, 100) * window;
        }
        // Rows are asked for later than the history, so an entry or more may be theirs alone.
        long slack = rows.count * window + percents * (PERIOD_MICROS + rowsLaterMicros);
        return rowsOfEnded || device <= percents * window + slack
                ? (rows.count == 0 ? 0 : device)
                : Math.min(device, percents * window);
    }

    /** Lets the next list be read at once, for instance on a device that came back. */
    void forgetList() {
        listedAt = Long.MIN_VALUE / 2;
        list.clear();
        listAnswer = NvmlReturn.NOT_READY;
    }
}
