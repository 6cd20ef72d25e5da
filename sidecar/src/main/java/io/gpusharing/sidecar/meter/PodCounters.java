package io.gpusharing.sidecar.meter;

import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.Snapshot;
import java.util.ArrayList;
import java.util.List;

/**
 * The cumulative counters of one pod on one device. Within a run they only grow. Lengths are whole
 * microseconds, so covered and uncovered add up to the time since the start without a rounding
 * error.
 */
final class PodCounters {

    /** No process of the pod was seen on the device yet. */
    static final long NEVER = Long.MIN_VALUE / 2;

    private static final long MICROS_PER_SECOND = 1_000_000;

    /**
     * Samples are up to ten seconds old, so for so long a pod that has ended seems to use what was
     * taken back from it. Twice as long is no such mistake.
     */
    private static final long CERTAIN_AFTER_MICROS = 20_000_000;

    /** What was listed longer ago may be different by now. */
    private static final long CURRENT_MICROS = 30_000_000;

    final String podUid;

    /** Bytes the pod holds now; 0 while unknown. */
    long memoryBytes;

    /** Whether a process of the pod was in the device's last list. */
    boolean listed;

    /** When a process of the pod was last seen on the device, monotonic. */
    long lastPresentMicros = NEVER;

    /** When the pod was found to be gone, monotonic; {@link #NEVER} while it lives. */
    long endedMicros = NEVER;

    /** Busy hundredths per container, by id: pairs that are few, so a list and no map. */
    final List<ContainerBusy> containers = new ArrayList<>();

    /** Whether the pod's first stretch of time on the device is still to come. */
    boolean isNew;

    /** The basis that busy time was last counted on. */
    private Basis measuredBy = Basis.PROCESS;

    /** Since when the pod was seen after each list, without having been given the device. */
    private long unaskedSince = NEVER;

    private long listedMicros = NEVER;
    private boolean unasked;

    private long memoryGranted;
    private long memoryListedMicros = NEVER;

    /** Since when the pod has held more memory after each list than it was given. */
    private long exceededSince = NEVER;

    private boolean exceeded;

    private long busyHundredths;
    private long memoryByteSeconds;
    private long memoryRemainder;
    private long coveredMicros;
    private long uncoveredMicros;

    PodCounters(String podUid) {
        this.podUid = podUid;
    }

    boolean lives() {
        return endedMicros == NEVER;
    }

    void busy(Basis basis, long hundredthsOfMicros) {
        measuredBy = basis;
        busyHundredths += hundredthsOfMicros;
    }

    /** Busy time of one container of the pod. */
    static final class ContainerBusy {
        final String id;
        long hundredths;

        ContainerBusy(String id) {
            this.id = id;
        }
    }

    void containerBusy(String id, long hundredthsOfMicros) {
        for (int i = 0; i < containers.size(); i++) {
            if (containers.get(i).id.equals(id)) {
                containers.get(i).hundredths += hundredthsOfMicros;
                return;
            }
        }
        ContainerBusy container = new ContainerBusy(id);
        container.hundredths = hundredthsOfMicros;
        containers.add(container);
    }

    void covered(long micros) {
        coveredMicros += micros;
        memoryRemainder += memoryBytes * micros;
        memoryByteSeconds += memoryRemainder / MICROS_PER_SECOND;
        memoryRemainder %= MICROS_PER_SECOND;
    }

    void uncovered(long micros) {
        uncoveredMicros += micros;
    }

    /**
     * After each list: whether the pod, if it was seen since the last one, was given the device.
     */
    void noteAsked(boolean asked, long now) {
        boolean seen = lastPresentMicros > listedMicros;
        listedMicros = now;
        if (asked || !seen) {
            unaskedSince = NEVER;
        } else if (unaskedSince == NEVER) {
            unaskedSince = now;
        }
        unasked = unaskedSince != NEVER && now - unaskedSince >= CERTAIN_AFTER_MICROS;
    }

    /**
     * After each list: how much memory of the device the pod was given.
     *
     * @param granted bytes; 0 where that is unknown, or all
     */
    void noteMemory(long granted, long now) {
        memoryGranted = granted;
        boolean isGap = now - memoryListedMicros > CURRENT_MICROS;
        memoryListedMicros = now;
        if (granted == 0 || memoryBytes <= granted) {
            exceededSince = NEVER;
        } else if (exceededSince == NEVER || isGap) {
            exceededSince = now;
        }
        exceeded = exceededSince != NEVER && now - exceededSince >= CERTAIN_AFTER_MICROS;
    }

    /** A new run of counters. The known processes and their memory are kept. */
    void beginAnew() {
        busyHundredths = 0;
        memoryByteSeconds = 0;
        memoryRemainder = 0;
        coveredMicros = 0;
        uncoveredMicros = 0;
        containers.clear();
    }

    DeviceUse use(String uuid, Basis basis, String reason, long now) {
        boolean isCurrent = now - memoryListedMicros <= CURRENT_MICROS;
        return new DeviceUse(
                uuid,
                basis,
                reason,
                busyHundredths / 100,
                memoryByteSeconds,
                coveredMicros,
                uncoveredMicros,
                new DeviceUse.Memory(memoryBytes, memoryGranted, exceeded && isCurrent),
                unasked,
                measuredBy,
                containers.stream()
                        .map(busy -> new DeviceUse.ContainerUse(busy.id, busy.hundredths / 100))
                        .toList());
    }

    Snapshot.Pod snapshot() {
        return new Snapshot.Pod(
                podUid,
                measuredBy,
                lastPresentMicros,
                busyHundredths,
                memoryByteSeconds,
                coveredMicros,
                uncoveredMicros);
    }

    void restore(Snapshot.Pod snapshot) {
        measuredBy = snapshot.measuredBy();
        lastPresentMicros = snapshot.lastPresentMicros();
        busyHundredths = snapshot.busyHundredths();
        memoryByteSeconds = snapshot.memoryByteSeconds();
        coveredMicros = snapshot.coveredMicros();
        uncoveredMicros = snapshot.uncoveredMicros();
    }
}
