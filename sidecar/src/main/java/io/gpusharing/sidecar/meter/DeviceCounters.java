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
        long processes = reading.ofProcesses(percents, device);
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

    /** Busy time of the device is one pod's, all of it. */
    void allOf(String podUid, long busyHundredths, long memoryUsed) {
        PodCounters pod = of(podUid);
        pod.busy(Basis.DEVICE, busyHundredths);
        pod.memoryBytes = memoryUsed;
    }

    /**
     * Busy time of the device is divided by weight among the pods that have a process on it; under
     * MPS among those of its clients. Its server computes for them and is listed beside them.
     */
    void split(long busyHundredths) {
        long weights = 0;
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            weights += pod.sharesSplit() ? view.weight(pod.podUid, uuid) : 0;
        }
        long left = busyHundredths;
        for (int i = 0; i < pods.size() && weights > 0; i++) {
            PodCounters pod = pods.get(i);
            if (pod.sharesSplit()) {
                long weight = view.weight(pod.podUid, uuid);
                long part = left / weights * weight + left % weights * weight / weights;
                pod.busy(Basis.DEVICE_SPLIT, part);
                left -= part;
                weights -= weight;
            }
        }
        nobodys(left);
    }

    /**
     * All that is counted of a stretch has been.
     *
     * @param device how busy the device was in it, in hundredths of a microsecond
     * @param sole the pod that has the GPU alone, or null
     */
    void busyAtMost(long device, @Nullable String sole) {
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            pod.busyAtMost(device, pod.servesMps || pod.podUid.equals(sole));
        }
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
            pod.workedBefore = pod.worksNow;
            pod.worksNow = false;
            pod.servesMps &= !view.given(pod.podUid, uuid);
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
                pod.servesMps |= view.servesMps(list.pid[i], owner, uuid, list, now);
                pod.worksNow |=
                        list.mpsClients == 0 || list.isMpsClient[i] || view.given(pod.podUid, uuid);
                pod.lastPresentMicros = now;
            }
        }
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            pod.gift.noteAsked(view.asked(pod.podUid, uuid), pod.lastPresentMicros, now);
            pod.gift.noteMemory(view.memoryGranted(pod.podUid, uuid), pod.memoryBytes, now);
        }
        forgetLongEnded(now);
    }

    /** Who has ended: a pod's time ends with the pod, and not when somebody tidies up after it. */
    private void noteLives(long now) {
        for (int i = 0; i < pods.size(); i++) {
            PodCounters pod = pods.get(i);
            if (pod.name == null) {
                pod.name = view.name(pod.podUid, now);
            }
            if (pod.lives() || pod.wasPresentSinceItsEnd()) {
                pod.noteLife(view.livedUntil(pod.podUid, pod.lastPresentMicros, now), now);
            }
        }
    }

    /** Bounded memory: pods come and go on a node for months. */
    private void forgetLongEnded(long now) {
        for (int i = pods.size() - 1; i >= 0; i--) {
            PodCounters pod = pods.get(i);
            // Who still stands in a list would be back, with all counters at zero.
            long last = Math.max(pod.endedMicros, pod.lastPresentMicros);
            if (!pod.lives() && now - last > KEEP_ENDED_MICROS) {
                byPod.remove(pod.podUid);
                pods.remove(i);
            }
        }
    }

    /** Time up to now was measured on this basis, as far back as the ring reaches. */
    void covered(Basis basis, long now) {
        noteLives(now);
        settle(basis, now, RING);
    }

    /** Time up to now was not measured. */
    void uncovered(long now) {
        noteLives(now);
        settle(Basis.ALLOCATION, now, 0);
    }

    private void settle(Basis basis, long now, long reach) {
        long gap = now - settledMicros;
        if (gap <= 0) {
            // While a call hung, a report settled more than that call can still bring.
            return;
        }
        long coveredFrom = now - Math.min(gap, reach);
        if (coveredFrom > settledMicros) {
            uncoveredUpTo = coveredFrom;
        }
        for (int i = 0; i < pods.size(); i++) {
            pods.get(i).settle(basis, settledMicros, coveredFrom, now);
        }
        settledMicros = now;
    }

    /** What the ring can no longer bring back is uncovered, also while a call hangs. */
    void settleStalled(long now) {
        if (unsettledFor(now) > RING) {
            settle(Basis.ALLOCATION, now - RING, 0);
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
