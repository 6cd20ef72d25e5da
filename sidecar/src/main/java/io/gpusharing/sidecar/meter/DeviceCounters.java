package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.ProcessList;
import io.gpusharing.sidecar.attribution.Owner;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The counters of all pods on one device, and of what is no pod's. Runs under the meter's lock.
 *
 * <p>Time is settled up to an instant: what lies before is covered or uncovered for good, what lies
 * after may still be back-filled from the driver's ring, as long as that reaches.
 */
final class DeviceCounters {

    private static final long RING = DeviceReading.RING_MICROS;
    private static final long PERCENT_TO_FULL = 100;
    private static final long PERIOD_MICROS = 200_000;
    private static final long KEEP_ENDED_MICROS = 600_000_000;

    private final String uuid;
    private final Viewpoint view;
    private final List<PodCounters> pods = new ArrayList<>();
    private final Map<String, PodCounters> byPod = new HashMap<>();
    private long settledMicros;

    /** When the last stretch ended that is uncovered for good, monotonic. */
    private long uncoveredUpTo = PodCounters.NEVER;

    private long unattributedHundredths;

    /**
     * @param sinceMicros when metering of this device begins, monotonic
     */
    DeviceCounters(String uuid, Viewpoint view, long sinceMicros) {
        this.uuid = uuid;
        this.view = view;
        this.settledMicros = sinceMicros;
        String resident = view.resident();
        if (resident != null) {
            of(resident);
        }
    }

    private PodCounters of(String podUid) {
        PodCounters pod = byPod.get(podUid);
        if (pod == null) {
            pod = new PodCounters(podUid);
            pod.isNew = !podUid.equals(view.resident());
            byPod.put(podUid, pod);
            pods.add(pod);
        }
        return pod;
    }

    /**
     * Divides the device's busy time among the processes of a reading.
     *
     * @param counted whether they are the basis, and so counted for their owners
     * @param device busy hundredths of a microsecond of the device since the last reading, or
     *     {@link DeviceHistory#UNKNOWN}
     * @param sole the pod that has the GPU alone and so did what no row tells, as the last second
     *     of each of its processes; null where there is none
     * @return what of it is processes'
     */
    long takeRows(
            DeviceReading reading, boolean counted, long device, @Nullable String sole, long now) {
        long percents = 0;
        for (int i = 0; i < reading.rows.count; i++) {
            percents += reading.rows.sm[i];
        }
        long processes = ofProcesses(percents, reading, device);
        for (int i = 0; counted && i < reading.rows.count; i++) {
            long busy =
                    percents == 0
                            ? processes / reading.rows.count
                            : processes * reading.rows.sm[i] / percents;
            Owner owner = reading.owners[i];
            if (owner != null) {
                PodCounters pod = of(owner.podUid());
                pod.busy(Basis.PROCESS, busy);
                if (!owner.containerId().isEmpty()) {
                    pod.containerBusy(owner.containerId(), busy);
                }
                pod.lastPresentMicros = now;
            } else {
                nobodys(busy);
            }
        }
        long rest = Math.max(0, device - processes);
        if (counted && sole != null && rest > 0) {
            of(sole).busy(Basis.PROCESS, rest);
        } else if (counted) {
            nobodys(rest);
        }
        return processes;
    }

    /**
     * How much of the device's busy time is that of the processes which have rows. A row's percent
     * is over those entries of the ring only that name a process which still lives, and of a
     * process that is new over what another left in its place: seen on an H200. So percents say how
     * busy processes were beside each other, and the device's history says how long. Only where all
     * of them together fall short of it by more than rounding is the rest no process's.
     */
    private static long ofProcesses(long percents, DeviceReading reading, long device) {
        long window = reading.history.window();
        if (device == DeviceHistory.UNKNOWN) {
            return Math.min(percents, PERCENT_TO_FULL) * window;
        }
        // Rows are asked for later than the history, so an entry or more may be theirs alone.
        long slack =
                reading.rows.count * window + percents * (PERIOD_MICROS + reading.rowsLaterMicros);
        return reading.rowsOfEnded || device <= percents * window + slack
                ? (reading.rows.count == 0 ? 0 : device)
                : Math.min(device, percents * window);
    }

    /** Busy time of the device is one pod's, all of it. */
    void allOf(String podUid, long busyHundredths, long memoryUsed) {
        PodCounters pod = of(podUid);
        pod.busy(Basis.DEVICE, busyHundredths);
        pod.memoryBytes = memoryUsed;
    }

    /** Busy time of the device is divided by weight among the pods that have a process on it. */
    void split(long busyHundredths) {
        long weights = 0;
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            weights += pod.listed ? view.weight(pod.podUid, uuid) : 0;
        }
        long left = busyHundredths;
        for (int i = 0; i < pods.size() && weights > 0; i++) {
            PodCounters pod = pods.get(i);
            if (pod.listed) {
                long weight = view.weight(pod.podUid, uuid);
                long part = left / weights * weight + left % weights * weight / weights;
                pod.busy(Basis.DEVICE_SPLIT, part);
                left -= part;
                weights -= weight;
            }
        }
        nobodys(left);
    }

    /** Busy time that is no pod's. */
    void nobodys(long busyHundredths) {
        unattributedHundredths += busyHundredths;
    }

    /** Who holds how much memory, and who is there at all, after each reading of the list. */
    void notePresence(ProcessList list, long now) {
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            pod.memoryBytes = 0;
            pod.listed = false;
        }
        List<String> allocated = view.allocated(uuid);
        for (int i = 0; i < allocated.size(); i++) {
            of(allocated.get(i)).lastPresentMicros = now;
        }
        for (int i = 0; i < list.count; i++) {
            Owner owner = view.owner(list.pid[i], list, now);
            if (owner != null) {
                PodCounters pod = of(owner.podUid());
                pod.memoryBytes += Math.max(0, list.memory[i]);
                pod.listed = true;
                pod.lastPresentMicros = now;
            }
        }
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            pod.noteAsked(view.asked(pod.podUid, uuid), now);
            pod.noteMemory(view.memoryGranted(pod.podUid, uuid), now);
            if (view.lives(pod.podUid, pod.lastPresentMicros, now)) {
                pod.endedMicros = PodCounters.NEVER;
            } else if (pod.lives()) {
                pod.endedMicros = now;
            }
        }
        forgetLongEnded(now);
    }

    /** Bounded memory: pods come and go on a node for months. */
    private void forgetLongEnded(long now) {
        for (int i = pods.size() - 1; i >= 0; i--) {
            PodCounters pod = pods.get(i);
            if (!pod.lives() && now - pod.endedMicros > KEEP_ENDED_MICROS) {
                byPod.remove(pod.podUid);
                pods.remove(i);
            }
        }
    }

    /** Time up to now was measured, as far back as the ring reaches. */
    void covered(long now) {
        settle(now, RING);
    }

    /** Time up to now was not measured. */
    void uncovered(long now) {
        settle(now, 0);
    }

    private void settle(long now, long reach) {
        long gap = now - settledMicros;
        if (gap <= 0) {
            // While a call hung, a report settled more than that call can still bring.
            return;
        }
        long covered = Math.min(gap, reach);
        if (covered < gap) {
            uncoveredUpTo = now - covered;
        }
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            if (pod.lives()) {
                pod.covered(covered);
                // A pod that was seen first just now may not have been there all along.
                pod.uncovered(pod.isNew ? 0 : gap - covered);
                pod.isNew = false;
            }
        }
        settledMicros = now;
    }

    /** What the ring can no longer bring back is uncovered, also while a call hangs. */
    void settleStalled(long now) {
        if (unsettledFor(now) > RING) {
            uncovered(now - RING);
        }
    }

    /** A new run of counters: from zero, for those pods that are still there. */
    void beginAnew(long now) {
        settleStalled(now);
        unattributedHundredths = 0;
        for (int i = pods.size() - 1; i >= 0; i--) {
            PodCounters pod = pods.get(i);
            if (pod.lives()) {
                pod.beginAnew();
            } else {
                byPod.remove(pod.podUid);
                pods.remove(i);
            }
        }
    }

    /** Since when time can be covered at all: what was busy before is not counted either. */
    long uncoveredUpTo() {
        return uncoveredUpTo;
    }

    /** How long ago anything was settled; more than the ring's length means that NVML hangs. */
    long unsettledFor(long now) {
        return now - settledMicros;
    }

    /** Whether a process of a pod was ever seen here. */
    boolean everUsed() {
        return pods.stream().anyMatch(pod -> pod.lastPresentMicros != PodCounters.NEVER);
    }

    List<PodCounters> all() {
        return pods;
    }

    long unattributedMicros() {
        return unattributedHundredths / PERCENT_TO_FULL;
    }

    /**
     * @param rowsFrom the newest sample that was counted, by the driver's clock
     */
    Snapshot.Device snapshot(long rowsFrom) {
        return new Snapshot.Device(
                uuid,
                settledMicros,
                rowsFrom,
                unattributedHundredths,
                pods.stream().map(PodCounters::snapshot).toList());
    }

    void restore(Snapshot.Device snapshot) {
        settledMicros = snapshot.settledMicros();
        unattributedHundredths = snapshot.unattributedHundredths();
        pods.clear();
        byPod.clear();
        for (Snapshot.Pod saved : snapshot.pods()) {
            PodCounters pod = of(saved.uid());
            pod.isNew = false;
            pod.restore(saved);
        }
    }
}
