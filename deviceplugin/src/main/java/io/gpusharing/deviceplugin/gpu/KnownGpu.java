package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.GpuInventory;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.PhysicalGpu;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A GPU that NVML has listed some time, and what has become of it. The monitor's thread tells it
 * what each look at NVML showed.
 */
final class KnownGpu {

    /** How many looks in a row must be good before a GPU that failed is used again. */
    static final int GOOD_LOOKS = 3;

    private static final String NOT_YET = "NVML has not listed it yet";

    private PhysicalGpu physical;
    private boolean wasRead;

    /** Whether NVML has not listed it since this program runs. */
    private boolean isAwaited;

    private boolean isUnreadable;
    private @Nullable Fault fault;
    private @Nullable Instant missingSince;
    private int goodLooks;

    /** In which opening of NVML its index was read; 0 for none. */
    private int indexedIn;

    /** In which opening of NVML it was seen to be off the bus; 0 for none. */
    private int goneIn;

    private KnownGpu(PhysicalGpu physical, boolean isAwaited) {
        this.physical = physical;
        this.isAwaited = isAwaited;
    }

    /** One that NVML lists for the first time. */
    static KnownGpu found(PhysicalGpu physical, int opening) {
        var gpu = new KnownGpu(physical, false);
        gpu.listed(physical, opening);
        return gpu;
    }

    /** One that NVML has a UUID of, and nothing else: not even its minor number. */
    static KnownGpu nameOnly(int index, String uuid) {
        return new KnownGpu(new PhysicalGpu(index, uuid, -1, "", 0, "", false), true);
    }

    /** One that an earlier run of this program knew. */
    static KnownGpu remembered(
            PhysicalGpu physical, @Nullable Fault fault, @Nullable Instant missingSince) {
        var gpu = new KnownGpu(physical, true);
        gpu.wasRead = true;
        gpu.fault = fault;
        gpu.missingSince = missingSince;
        return gpu;
    }

    PhysicalGpu physical() {
        return physical;
    }

    String uuid() {
        return physical.uuid();
    }

    /** Whether everything about it was ever read. */
    boolean wasRead() {
        return wasRead;
    }

    @Nullable Fault fault() {
        return fault;
    }

    @Nullable Instant missingSince() {
        return missingSince;
    }

    /** Whether NVML gave it this index since it was opened last. */
    boolean hasIndex(int index, int opening) {
        return indexedIn == opening && physical.index() == index;
    }

    /** NVML has no number for it any more; its own may be another's now. */
    void setIndex(int index) {
        physical = physical.withIndex(index);
    }

    /** NVML answered everything about it. */
    void listed(PhysicalGpu now, int opening) {
        if (missingSince != null && fault == null) {
            fault = new Fault("it was missing", Cure.CHECK);
        }
        if (missingSince != null || (goneIn != 0 && opening > goneIn)) {
            // It was off the bus, and whoever opens NVML finds it: the driver has attached and
            // initialised it anew.
            goneIn = 0;
            initialised();
        }
        physical = now;
        wasRead = true;
        isAwaited = false;
        isUnreadable = false;
        indexedIn = opening;
        missingSince = null;
    }

    /**
     * NVML could not answer something about it.
     *
     * @return whether one should look again soon before one believes it
     */
    boolean unreadable(GpuInventory.Unreadable now, int opening) {
        setIndex(now.index());
        boolean sure = isGone(now.answer());
        boolean again = isUnreadable;
        isUnreadable = true;
        missingSince = null;
        goodLooks = 0;
        if (sure) {
            goneIn = opening;
        }
        if (sure || again) {
            fail(new Fault(now.reason(), Cure.CHECK));
            return false;
        }
        return true;
    }

    private static boolean isGone(NvmlReturn answer) {
        return answer == NvmlReturn.GPU_IS_LOST
                || answer == NvmlReturn.RESET_REQUIRED
                || answer == NvmlReturn.GPU_NOT_FOUND;
    }

    /** NVML does not list it. */
    void missing(Instant now, int opening) {
        isUnreadable = false;
        goodLooks = 0;
        goneIn = opening;
        if (missingSince == null) {
            missingSince = now;
        }
    }

    /** It has failed. The first error that needs a reset is the cause of what follows. */
    void fail(Fault now) {
        goodLooks = 0;
        if (fault != null && fault.cure() == Cure.RESET) {
            return;
        }
        fault = now;
        if (isListed()) {
            // That it was off the bus before is no cure for this.
            goneIn = 0;
        }
    }

    /** It was initialised anew, or somebody says so. What is left is to check it. */
    void initialised() {
        if (fault != null) {
            fault = new Fault(fault.reason(), Cure.CHECK);
        }
    }

    /** Whether it waits for {@link #looked}. */
    boolean wantsCheck() {
        return fault != null && fault.cure() == Cure.CHECK && isListed();
    }

    /** Whether only opening NVML again can tell that it was initialised anew. */
    boolean wantsOpening() {
        return isUnreadable
                || (isListed() && goneIn != 0 && fault != null && fault.cure() == Cure.RESET);
    }

    private boolean isListed() {
        return !isAwaited && !isUnreadable && missingSince == null;
    }

    /**
     * It was listed, and then its processes were counted.
     *
     * @param isEmpty whether there was none
     */
    void looked(boolean isEmpty) {
        goodLooks = isEmpty ? goodLooks + 1 : 0;
        if (goodLooks >= GOOD_LOOKS) {
            fault = null;
            goodLooks = 0;
        }
    }

    /** Why no container may start on it, in words; null while it is healthy. */
    @Nullable String words() {
        if (missingSince != null) {
            return "missing since %s (%s)".formatted(missingSince, description());
        }
        if (fault != null) {
            return fault.words();
        }
        return isAwaited ? NOT_YET : null;
    }

    /** Whether somebody has to do something about it. */
    boolean isLost() {
        return missingSince != null || (fault != null && fault.cure() == Cure.RESET);
    }

    /** Which card it is, for whoever goes and looks. */
    String description() {
        return "%s at %s"
                .formatted(
                        physical.model().isEmpty() ? "unknown model" : physical.model(),
                        physical.pciBusId().isEmpty() ? "an unknown place" : physical.pciBusId());
    }
}
