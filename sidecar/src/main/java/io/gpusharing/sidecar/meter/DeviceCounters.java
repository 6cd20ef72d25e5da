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

/**
 * The counters of all pods on one device, and of what is no pod's. Runs under the meter's lock.
 *
 * <p>Time is settled up to an instant: what lies before is covered or uncovered for good, what lies
 * after may still be back-filled from the driver's ring, as long as that reaches.
 */
final class DeviceCounters {

    private static final long RING = DeviceReading.RING_MICROS;
    private static final long PERCENT_TO_FULL = 100;
    private static final long KEEP_ENDED_MICROS = 600_000_000;

    private final String uuid;
    private final Viewpoint view;
    private final List<PodCounters> pods = new ArrayList<>();
    private final Map<String, PodCounters> byPod = new HashMap<>();
    private long settledMicros;
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
     * Takes the clean rows of a reading.
     *
     * @param counted whether they are the basis, and so counted for their owners
     * @return busy hundredths of a microsecond over all of them
     */
    long takeRows(DeviceReading reading, boolean counted, long now) {
        long total = 0;
        long widest = 0;
        for (int i = 0; i < reading.rows.count; i++) {
            total += reading.rows.sm[i] * reading.window(i);
            widest = Math.max(widest, reading.window(i));
        }
        // Percents are rounded per process, so their sum can pass the whole.
        long limit = widest * PERCENT_TO_FULL;
        for (int i = 0; counted && i < reading.rows.count; i++) {
            long busy = reading.rows.sm[i] * reading.window(i);
            if (total > limit) {
                busy = (long) ((double) busy * limit / total);
            }
            long doubtful = reading.rows.sm[i] * reading.doubtfulWindow(i);
            Owner owner = reading.owners[i];
            if (owner != null) {
                PodCounters pod = of(owner.podUid());
                pod.busy(Basis.PROCESS, busy);
                pod.containerBusy(owner.containerId(), busy, doubtful);
                pod.lastPresentMicros = now;
            } else {
                nobodys(busy);
            }
        }
        return Math.min(total, limit);
    }

    /** It is known now what was doubtful so far: it is credited, or forgotten. */
    void settleDoubt(boolean credited) {
        for (int i = 0; i < pods.size(); i++) {
            pods.get(i).settleDoubt(credited);
        }
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
     * @param rowsFrom the newest row that was counted, by the driver's clock
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
