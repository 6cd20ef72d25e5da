package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNull;

import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.Snapshot;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cumulative counters of one pod on one device. Within a run they only grow. Lengths are whole
 * microseconds, so covered and uncovered add up to the time since the start without a rounding
 * error.
 */
final class PodCounters {

    /** No process of the pod was seen on the device yet. */
    static final long NEVER = Long.MIN_VALUE / 2;

    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final Basis[] BASES = Basis.values();

    final String podUid;

    /** As soon as it is known, for good: what names it may be gone before its counters are. */
    @Nullable PodName name;

    /** Bytes the pod holds now; 0 while unknown. */
    long memoryBytes;

    /** Whether a process that the device works for was in its last list, and in the one before. */
    boolean worksNow;

    boolean workedBefore;

    /** Whether it serves the device's MPS: whatever it does there it does for others. */
    boolean servesMps;

    /** When a process of the pod was last seen on the device, monotonic. */
    long lastPresentMicros = NEVER;

    /** When the pod was found to be gone, monotonic; {@link #NEVER} while it lives. */
    long endedMicros = NEVER;

    /** Busy hundredths per container, by id: pairs that are few, so a list and no map. */
    final List<Busy> containers = new ArrayList<>();

    /** Whether the pod's first stretch of time on the device is still to come. */
    boolean isNew;

    /** The basis of the last stretch that was measured, the pod's for good once it has ended. */
    private Basis measuredBy = Basis.ALLOCATION;

    /** What was last said of a pod that lived. */
    private Basis basis = Basis.ALLOCATION;

    private String basisReason = "";

    /** When the pod was last known to live, if it has ended. */
    private long livedMicros;

    /** Since then; whoever comes back between two tries of its containers lived all along. */
    private long doubtfulCovered;

    private long doubtfulUncovered;

    /** What it uses beside what it was given. */
    final PodGift gift = new PodGift();

    /** Busy time by basis, one for each. */
    private final Map<Basis, Busy> busy = new EnumMap<>(Basis.class);

    /** Of the stretch that is counted now. */
    private long stretchHundredths;

    /** The most that it can have used: no less than what was counted for it. */
    private long atMostHundredths;

    private long memoryByteSeconds;
    private long memoryRemainder;
    private long coveredMicros;
    private long uncoveredMicros;

    PodCounters(String podUid) {
        this.podUid = podUid;
        for (Basis by : BASES) {
            busy.put(by, new Busy(""));
        }
    }

    private Busy busy(Basis by) {
        return requireNonNull(busy.get(by));
    }

    /** Whether it has part in what the device did since, where that is divided by weight. */
    boolean sharesSplit() {
        return !servesMps && (worksNow || workedBefore);
    }

    boolean lives() {
        return endedMicros == NEVER;
    }

    /** Whether a process of it was listed, or its device still is its, after it seemed to end. */
    boolean wasPresentSinceItsEnd() {
        return lastPresentMicros > endedMicros;
    }

    /**
     * Whether it lives.
     *
     * @param livedUntil when it was last known to
     */
    void noteLife(long livedUntil, long now) {
        if (livedUntil >= now) {
            endedMicros = NEVER;
            // No process held memory meanwhile, whatever its newest ones hold.
            coveredMicros += doubtfulCovered;
            uncoveredMicros += doubtfulUncovered;
            doubtfulCovered = 0;
            doubtfulUncovered = 0;
        } else if (lives()) {
            endedMicros = now;
            livedMicros = livedUntil;
        }
    }

    void busy(Basis by, long hundredthsOfMicros) {
        if (hundredthsOfMicros > 0) {
            measuredBy = by;
            busy(by).hundredths += hundredthsOfMicros;
            stretchHundredths += hundredthsOfMicros;
        }
    }

    /**
     * All that is counted of a stretch has been. Who computes in step with the driver's sampling is
     * never caught, so beside others a pod can have done all that its GPU did.
     *
     * @param device how busy the device was, in hundredths of a microsecond
     * @param isAlone whether the pod has the device alone
     */
    void busyAtMost(long device, boolean isAlone) {
        atMostHundredths +=
                isAlone || !lives() ? stretchHundredths : Math.max(device, stretchHundredths);
        stretchHundredths = 0;
    }

    /** Busy time of one container of the pod, or of none in particular. */
    static final class Busy {
        final String id;
        long hundredths;

        Busy(String id) {
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
        Busy container = new Busy(id);
        container.hundredths = hundredthsOfMicros;
        containers.add(container);
    }

    /**
     * Time of the device was settled: uncovered from an instant, and then covered on a basis.
     *
     * @param by the basis of what is covered
     */
    void settle(Basis by, long from, long coveredFrom, long to) {
        long end = lives() ? to : Math.min(to, livedMicros);
        long covered = Math.max(0, end - coveredFrom);
        // A pod that was seen first just now may not have been there all along.
        long uncovered = isNew ? 0 : Math.max(0, Math.min(end, coveredFrom) - from);
        covered(by, covered);
        uncoveredMicros += uncovered;
        if (!lives() && !isNew) {
            doubtfulCovered += to - coveredFrom - covered;
            doubtfulUncovered += coveredFrom - from - uncovered;
        }
        isNew = false;
    }

    private void covered(Basis by, long micros) {
        if (micros > 0) {
            measuredBy = by;
            coveredMicros += micros;
            memoryRemainder += memoryBytes * micros;
            memoryByteSeconds += memoryRemainder / MICROS_PER_SECOND;
            memoryRemainder %= MICROS_PER_SECOND;
        }
    }

    /** A new run of counters. The known processes and their memory are kept. */
    void beginAnew() {
        busy.values().forEach(it -> it.hundredths = 0);
        atMostHundredths = 0;
        memoryByteSeconds = 0;
        memoryRemainder = 0;
        coveredMicros = 0;
        uncoveredMicros = 0;
        doubtfulCovered = 0;
        doubtfulUncovered = 0;
        containers.clear();
    }

    /** What is said of the pod while it lives. */
    void noteBasis(Basis current, String reason) {
        basis = current;
        basisReason = reason;
    }

    DeviceUse use(String uuid, long now) {
        // By what its GPU is metered later says nothing of it.
        Basis said = lives() ? basis : measuredBy;
        return new DeviceUse(
                uuid,
                said,
                said == basis ? basisReason : "",
                busyMicros(),
                atMostHundredths / 100,
                memoryByteSeconds,
                coveredMicros,
                uncoveredMicros,
                gift.memory(memoryBytes, now),
                gift.isUnasked(),
                measuredBy,
                parts());
    }

    private long busyMicros() {
        return busy.values().stream().mapToLong(it -> it.hundredths).sum() / 100;
    }

    /** Containers, and what names none: counted before a restart, or divided by weight. */
    private List<DeviceUse.Part> parts() {
        List<DeviceUse.Part> parts = new ArrayList<>();
        long inContainers = 0;
        for (Busy own : containers) {
            inContainers += own.hundredths;
            parts.add(new DeviceUse.Part(own.id, Basis.PROCESS, own.hundredths / 100));
        }
        for (Basis by : BASES) {
            long rest = busy(by).hundredths - (by == Basis.PROCESS ? inContainers : 0);
            if (rest >= 100) {
                parts.add(new DeviceUse.Part("", by, rest / 100));
            }
        }
        return parts;
    }

    Snapshot.Pod snapshot() {
        Map<Basis, Long> counted = new EnumMap<>(Basis.class);
        busy.forEach((by, it) -> {
            if (it.hundredths > 0) {
                counted.put(by, it.hundredths);
            }
        });
        return new Snapshot.Pod(
                podUid,
                name,
                measuredBy,
                lastPresentMicros,
                counted,
                atMostHundredths,
                memoryByteSeconds,
                coveredMicros,
                uncoveredMicros,
                doubtfulCovered,
                doubtfulUncovered);
    }

    void restore(Snapshot.Pod snapshot) {
        name = snapshot.name();
        measuredBy = snapshot.measuredBy();
        lastPresentMicros = snapshot.lastPresentMicros();
        snapshot.busyHundredths().forEach((by, counted) -> busy(by).hundredths = counted);
        atMostHundredths = snapshot.atMostHundredths();
        memoryByteSeconds = snapshot.memoryByteSeconds();
        coveredMicros = snapshot.coveredMicros();
        uncoveredMicros = snapshot.uncoveredMicros();
        doubtfulCovered = snapshot.doubtfulCovered();
        doubtfulUncovered = snapshot.doubtfulUncovered();
    }
}
