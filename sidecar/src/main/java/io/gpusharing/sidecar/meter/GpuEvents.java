package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.NvmlReturn;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the events of GPUs: critical errors (XID) are counted, a change of MIG lets devices be
 * searched for at once. Waiting blocks in the driver, so this has a thread and a binding of its
 * own.
 */
public final class GpuEvents {

    private static final int WAIT_MILLIS = 5_000;

    private final Supplier<NvmlLibrary> source;
    private final Runnable devicesChanged;
    private final Map<Xid, Long> counts = new ConcurrentHashMap<>();
    private final Map<Long, String> uuids = new HashMap<>();
    private @Nullable Nvml nvml;
    private long set;

    /** A kind of critical error on one GPU. */
    public record Xid(String uuid, long number) {}

    /**
     * @param devicesChanged called when devices have to be searched for
     */
    public GpuEvents(Supplier<NvmlLibrary> source, Runnable devicesChanged) {
        this.source = source;
        this.devicesChanged = devicesChanged;
    }

    /**
     * Waits once, at most five seconds.
     *
     * @return whether to ask again at once; false if events cannot be waited for now
     */
    public boolean round() {
        Nvml current = nvml == null ? open() : nvml;
        if (current == null) {
            return false;
        }
        NvmlReturn answer = current.waitForEvent(set, WAIT_MILLIS);
        if (answer == NvmlReturn.TIMEOUT) {
            return true;
        }
        if (!answer.ok()) {
            close(current);
            return false;
        }
        if (current.eventType() == Nvml.XID_CRITICAL_ERROR) {
            String uuid = requireNonNullElse(uuids.get(current.handle()), "");
            counts.merge(new Xid(uuid, current.eventData()), 1L, Long::sum);
        }
        // After either, what was known of the devices may be wrong.
        devicesChanged.run();
        return true;
    }

    private @Nullable Nvml open() {
        if (!(source.get() instanceof NvmlLibrary.Found(var symbols, String place))) {
            return null;
        }
        Nvml fresh = new Nvml(symbols);
        if (!fresh.init().ok()) {
            return null;
        }
        if (!fresh.eventSetCreate().ok()) {
            close(fresh);
            return null;
        }
        set = fresh.handle();
        uuids.clear();
        int devices = fresh.deviceCount().ok() ? fresh.result() : 0;
        for (int index = 0; index < devices; index++) {
            if (fresh.deviceByIndex(index).ok()) {
                long device = fresh.handle();
                uuids.put(device, requireNonNullElse(fresh.uuid(device), ""));
                fresh.registerEvents(device, Nvml.XID_CRITICAL_ERROR | Nvml.MIG_CONFIG_CHANGE, set);
            }
        }
        nvml = fresh;
        return fresh;
    }

    /**
     * NVML counts how often it was initialised, and closes with the last shutdown only: one that is
     * forgotten here would keep the meter, in the same process, from ever opening it anew.
     */
    private void close(Nvml opened) {
        opened.shutdown();
        nvml = null;
    }

    /** Critical errors so far. Safe from any thread. */
    public Map<Xid, Long> counts() {
        return Map.copyOf(counts);
    }
}
