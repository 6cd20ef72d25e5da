package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.PhysicalGpu;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events that GPUs report by themselves, where they can. */
final class GpuEvents {

    private static final Logger log = LoggerFactory.getLogger(GpuEvents.class);

    private static final long WANTED =
            Nvml.XID_CRITICAL_ERROR | Nvml.DOUBLE_BIT_ECC_ERROR | Nvml.MIG_CONFIG_CHANGE;

    private final Map<Long, String> uuids = new HashMap<>();
    private final Set<String> toldSilent = new HashSet<>();
    private List<PhysicalGpu> registered = List.of();
    private long set;

    /** Whether there is anything to wait for. */
    boolean isWaitable() {
        return !uuids.isEmpty();
    }

    /** Waits for the events of exactly these GPUs from now on. */
    void registerFor(Nvml nvml, List<PhysicalGpu> gpus) {
        if (gpus.equals(registered)) {
            return;
        }
        free(nvml);
        registered = gpus;
        if (gpus.isEmpty() || !nvml.eventSetCreate().ok()) {
            return;
        }
        set = nvml.handle();
        var silent = new ArrayList<String>();
        for (PhysicalGpu gpu : gpus) {
            if (!register(nvml, gpu)) {
                silent.add(gpu.uuid());
            }
        }
        if (uuids.isEmpty()) {
            nvml.eventSetFree(set);
            set = 0;
        }
        if (toldSilent.addAll(silent)) {
            log.atInfo()
                    .addKeyValue("gpus", silent)
                    .log("GPUs report no errors by themselves, they are only polled");
        }
    }

    private boolean register(Nvml nvml, PhysicalGpu gpu) {
        if (!nvml.deviceByIndex(gpu.index()).ok()) {
            return false;
        }
        long device = nvml.handle();
        // One type that it does not support would keep out the others too.
        long types = nvml.supportedEvents(device).ok() ? nvml.eventTypes() & WANTED : 0;
        if (types == 0 || !nvml.registerEvents(device, types, set).ok()) {
            return false;
        }
        uuids.put(device, gpu.uuid());
        return true;
    }

    /** Waits; NVML has what happened, {@link #uuid} where. */
    NvmlReturn await(Nvml nvml, int millis) {
        return nvml.waitForEvent(set, millis);
    }

    /** The GPU that a handle of NVML is; null if it is not registered. */
    @Nullable String uuid(long device) {
        return uuids.get(device);
    }

    /** Gives the set back. */
    void free(Nvml nvml) {
        if (set != 0) {
            nvml.eventSetFree(set);
        }
        set = 0;
        registered = List.of();
        uuids.clear();
    }
}
