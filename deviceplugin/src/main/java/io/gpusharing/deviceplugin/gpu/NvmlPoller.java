package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.GpuInventory;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.nvml.ProcessList;
import io.gpusharing.nvml.TimeSource;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks NVML, for one thread: waits for the errors that GPUs report, and looks at each GPU every
 * four seconds.
 */
final class NvmlPoller {

    private static final Logger log = LoggerFactory.getLogger(NvmlPoller.class);

    private static final long SECOND = 1_000_000;
    private static final long LOOK_EVERY = 4 * SECOND;

    /** After an answer that may be a passing trouble. */
    private static final long LOOK_AGAIN = SECOND;

    /** How long one wait lasts at most, and with it the end of this program. */
    static final long WAIT = SECOND;

    private static final long OPEN_AGAIN = 3 * SECOND;

    /** NVML finds a GPU that has come back to the bus only when it is opened. */
    private static final long SEARCH_UNREADABLE = 300 * SECOND;

    private static final long SEARCH_MISSING = 600 * SECOND;

    /** How long NVML may take for everything that is asked in one look, waiting before included. */
    private static final long PATIENCE = 5 * SECOND;

    /** Looks are as far apart as one takes, but not for ever. */
    private static final long MOST_SLOWNESS = 60 * SECOND;

    /** Opening initialises GPUs that nobody else holds, seconds for each. */
    private static final long PATIENCE_AT_OPENING = 60 * SECOND;

    private final NvmlAccess access;
    private final KnownGpus known;
    private final Snapshot snapshot;
    private final TimeSource time;
    private final DeviceAccess devices;
    private final GpuEvents events = new GpuEvents();
    private final ProcessList processes = new ProcessList();

    /** Whether NVML has listed the GPUs since it was opened last. */
    private boolean isListed;

    /** Whether it refused to, when it was asked last. */
    private boolean isRefused;

    private long lookAt;
    private long openAt;
    private long openedAt;
    private long registerAt;

    /** How long the last look took, if it met a GPU that cannot be read; else 0. */
    private long slowness;

    private volatile boolean isRead;
    private volatile @Nullable String trouble;
    private volatile boolean isAccessLost;

    /**
     * @param snapshot where it says what it finds
     * @param devices looked at besides
     */
    NvmlPoller(
            NvmlAccess access,
            KnownGpus known,
            Snapshot snapshot,
            DeviceAccess devices,
            TimeSource time) {
        this.devices = devices;
        this.access = access;
        this.known = known;
        this.snapshot = snapshot;
        this.time = time;
        this.trouble = access.problem();
        this.openAt = time.monotonicMicros();
    }

    /** Whether NVML has listed the GPUs since the start. Safe from any thread. */
    boolean isRead() {
        return isRead;
    }

    /** Why NVML cannot be asked now, in words; null while it can. Safe from any thread. */
    @Nullable String trouble() {
        return trouble;
    }

    /** Whether only a new container may open the driver's device files. Safe from any thread. */
    boolean isAccessLost() {
        return isAccessLost;
    }

    /** Something went wrong that nobody expected: begins anew. */
    void restart(RuntimeException problem) {
        isListed = false;
        closeNvml("watching GPUs failed: " + problem, NvmlReturn.SUCCESS);
    }

    /** Lets go of NVML. */
    void release() {
        releaseNvml("the device plugin ends", NvmlReturn.SUCCESS);
    }

    /** Waits for what GPUs report, at most a second, and does what is due. */
    void step() {
        Nvml nvml = access.usable();
        snapshot.begin(
                time.monotonicMicros(), nvml == null ? PATIENCE_AT_OPENING : PATIENCE + slowness);
        try {
            isAccessLost = devices.isLost(time.monotonicMicros());
            if (nvml == null) {
                openOrPause();
            } else {
                awaitEvent(nvml);
                if (time.monotonicMicros() >= lookAt) {
                    look(nvml);
                }
            }
        } finally {
            snapshot.end();
        }
    }

    private void openOrPause() {
        long left = openAt - time.monotonicMicros();
        if (left > 0) {
            time.pauseMicros(Math.min(left, WAIT));
            return;
        }
        access.open();
        openedAt = time.monotonicMicros();
        openAt = openedAt + OPEN_AGAIN;
        registerAt = openedAt;
        isListed = false;
        isRefused = false;
        Nvml nvml = access.usable();
        if (nvml == null) {
            publish();
            return;
        }
        if (access.isDriverNew()) {
            known.all().forEach(KnownGpu::initialised);
        }
        look(nvml);
    }

    /**
     * Closes NVML. Where it worked until now it is opened again at once, and nobody need know;
     * otherwise after a while.
     */
    private void closeNvml(String reason, NvmlReturn answer) {
        releaseNvml(reason, answer);
        openAt = time.monotonicMicros() + (isListed ? 0 : OPEN_AGAIN);
        if (!isListed) {
            publish();
        }
    }

    private void releaseNvml(String reason, NvmlReturn answer) {
        Nvml nvml = access.usable();
        if (nvml != null) {
            events.free(nvml);
        }
        access.close(reason, answer);
    }

    private void awaitEvent(Nvml nvml) {
        long left = Math.min(lookAt - time.monotonicMicros(), WAIT);
        if (left <= 0) {
            return;
        }
        if (!events.isWaitable()) {
            time.pauseMicros(left);
            return;
        }
        NvmlReturn answer = events.await(nvml, (int) Math.ceilDiv(left, 1_000L));
        if (answer.ok()) {
            happened(events.uuid(nvml.handle()), nvml.eventType(), nvml.eventData());
        } else if (answer != NvmlReturn.TIMEOUT) {
            // Such as that one of the GPUs is lost. A look tells which; until then waiting would
            // answer the same at once.
            log.atDebug().addKeyValue("answer", answer).log("cannot wait for events of GPUs");
            events.free(nvml);
            lookAt = time.monotonicMicros();
            registerAt = lookAt + LOOK_EVERY;
        }
    }

    private void happened(@Nullable String uuid, long type, long data) {
        KnownGpu gpu = known.get(uuid);
        if (gpu == null || type == Nvml.MIG_CONFIG_CHANGE) {
            lookAt = time.monotonicMicros();
            return;
        }
        // The other type that we wait for is what XID 48 says as well.
        long xid = type == Nvml.XID_CRITICAL_ERROR ? data : 48;
        Fault fault = Xids.fault(xid);
        if (fault == null) {
            known.tellIgnored(gpu, xid);
            return;
        }
        if (gpu.fault() == null) {
            // Whoever floods us with errors does not make us ask for everything each time.
            lookAt = time.monotonicMicros();
        }
        gpu.fail(fault);
        known.save(access.driver());
        publish();
    }

    private void look(Nvml nvml) {
        long begun = time.monotonicMicros();
        switch (GpuInventory.read(nvml)) {
            case GpuInventory.Refused(String reason, NvmlReturn answer) -> refused(reason, answer);
            case GpuInventory.Listed listed -> {
                for (GpuInventory.Unreadable each : listed.unreadable()) {
                    if (NvmlAccess.isAboutDriver(each.answer())) {
                        closeNvml(each.reason(), each.answer());
                        return;
                    }
                }
                // The driver may try in vain for seconds to initialise such a GPU, each time.
                slowness =
                        listed.unreadable().isEmpty()
                                ? 0
                                : Math.min(time.monotonicMicros() - begun, MOST_SLOWNESS);
                take(listed, nvml);
            }
        }
    }

    private void refused(String reason, NvmlReturn answer) {
        if (NvmlAccess.isAboutDriver(answer) || isRefused || !isListed) {
            closeNvml(reason, answer);
        } else {
            isRefused = true;
            lookAt = time.monotonicMicros() + LOOK_AGAIN;
        }
    }

    private void take(GpuInventory.Listed listed, Nvml nvml) {
        known.forgetIfAsked();
        boolean inDoubt = known.take(listed, access.openings(), now());
        for (PhysicalGpu gpu : listed.gpus()) {
            check(gpu, nvml);
        }
        if (time.monotonicMicros() >= registerAt) {
            events.registerFor(nvml, listed.gpus());
        }
        isListed = true;
        isRefused = false;
        known.save(access.driver());
        boolean isFirst = !isRead;
        isRead = true;
        if (!publish() && isFirst) {
            snapshot.tell();
        }
        planNext(inDoubt);
    }

    private void check(PhysicalGpu physical, Nvml nvml) {
        KnownGpu gpu = known.get(physical.uuid());
        if (gpu != null && gpu.wantsCheck()) {
            gpu.looked(
                    nvml.deviceByIndex(physical.index()).ok()
                            && nvml.runningProcesses(nvml.handle(), processes).ok()
                            && processes.count == 0);
        }
    }

    private void planNext(boolean inDoubt) {
        long now = time.monotonicMicros();
        lookAt = now + Math.max(inDoubt ? LOOK_AGAIN : LOOK_EVERY, slowness);
        boolean isUnreadable = known.all().stream().anyMatch(KnownGpu::wantsOpening);
        boolean isMissing = known.all().stream().anyMatch(gpu -> gpu.missingSince() != null);
        if ((isUnreadable && now - openedAt >= SEARCH_UNREADABLE)
                || (isMissing && now - openedAt >= SEARCH_MISSING)) {
            closeNvml("NVML is opened again to look for GPUs", NvmlReturn.SUCCESS);
        }
    }

    private Instant now() {
        return Instant.EPOCH
                .plus(time.wallMicros(), ChronoUnit.MICROS)
                .truncatedTo(ChronoUnit.SECONDS);
    }

    private boolean publish() {
        boolean isOpen = access.usable() != null;
        trouble = isOpen ? null : access.problem();
        if (isRead) {
            known.tellFaults();
        }
        return snapshot.set(known.shown(trouble));
    }
}
