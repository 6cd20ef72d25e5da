package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlCall;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.Remedy;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether NVML can be asked now. For the monitor's thread, where nothing else is said. */
final class NvmlAccess {

    private static final Logger log = LoggerFactory.getLogger(NvmlAccess.class);

    private final Supplier<NvmlLibrary> source;
    private volatile @Nullable Nvml nvml;
    private volatile boolean wantsRestart;
    private String place = "";
    private String driver;
    private String problem = "NVML has not been asked yet";
    private String told = "";
    private boolean open;
    private boolean driverWasGone;
    private boolean driverIsNew;
    private int openings;

    /**
     * @param driver the driver's version when this program last ran; empty if nobody knows
     */
    NvmlAccess(Supplier<NvmlLibrary> source, String driver) {
        this.source = source;
        this.driver = driver;
    }

    /** NVML, where it can be asked now; else null. */
    @Nullable Nvml usable() {
        return open ? nvml : null;
    }

    /** Why it cannot be asked, in words. */
    String problem() {
        return problem;
    }

    /** The driver's version, as it was told last. */
    String driver() {
        return driver;
    }

    /** Whether the driver was loaded anew before NVML was opened last. */
    boolean isDriverNew() {
        return driverIsNew;
    }

    /** How often it was opened. */
    int openings() {
        return openings;
    }

    /** The call that is running now, null for none. Safe from any thread. */
    @Nullable NvmlCall inside() {
        Nvml current = nvml;
        return current == null ? null : current.inside();
    }

    /**
     * Whether only another process can use the driver that runs now: the library that this one has
     * loaded belongs to the driver before, and stays. Safe from any thread.
     */
    boolean wantsRestart() {
        return wantsRestart;
    }

    /** Whether the driver answered for itself and not for a GPU. */
    static boolean isAboutDriver(NvmlReturn answer) {
        return answer.remedy() == Remedy.REINITIALISE || answer.remedy() == Remedy.LEAVE;
    }

    /** Opens it; {@link #usable} and {@link #problem} say whether that worked. */
    void open() {
        Nvml current = nvml;
        if (current == null) {
            switch (source.get()) {
                case NvmlLibrary.Missing(String reason, List<String> tried) -> {
                    refused(reason, "looked for " + String.join(", ", tried));
                    return;
                }
                case NvmlLibrary.Found(var symbols, String where) -> {
                    current = new Nvml(symbols);
                    nvml = current;
                    place = where;
                }
            }
        }
        NvmlReturn answer = current.init();
        if (!answer.ok()) {
            note(answer);
            refused(words("nvmlInit_v2 answered " + answer, answer), place);
            return;
        }
        opened(current.driverVersion());
    }

    private void opened(String version) {
        open = true;
        openings++;
        driverIsNew = driverWasGone || (!driver.isEmpty() && !driver.equals(version));
        if (openings == 1 || driverIsNew || !told.isEmpty()) {
            log.atInfo()
                    .addKeyValue("library", place)
                    .addKeyValue("driver", version)
                    .addKeyValue("before", driver)
                    .log(
                            openings > 1 && driverIsNew
                                    ? "the driver was loaded again"
                                    : "NVML is open");
        }
        driver = version;
        driverWasGone = false;
        wantsRestart = false;
        told = "";
    }

    /**
     * Lets go of it.
     *
     * @param answer what it said last
     */
    void close(String reason, NvmlReturn answer) {
        Nvml current = usable();
        open = false;
        problem = words(reason, answer);
        if (current != null) {
            current.shutdown();
        }
        note(answer);
    }

    private void note(NvmlReturn answer) {
        driverWasGone |= answer.remedy() == Remedy.LEAVE;
        if (answer == NvmlReturn.LIB_RM_VERSION_MISMATCH) {
            // Before the first opening it is the node where library and driver differ, until
            // somebody loads the new driver; no restart of ours helps.
            wantsRestart = openings > 0;
            nvml = null;
        }
    }

    private void refused(String reason, String where) {
        open = false;
        problem = reason;
        if (!reason.equals(told)) {
            told = reason;
            log.atWarn()
                    .addKeyValue("reason", reason)
                    .addKeyValue("library", where)
                    .addKeyValue("restartWanted", wantsRestart)
                    .log("NVML cannot be opened, trying on: is NVIDIA's driver installed here?");
        }
    }

    private String words(String reason, NvmlReturn answer) {
        return switch (answer) {
            case DRIVER_NOT_LOADED -> "the NVIDIA driver is not loaded (" + reason + ")";
            case LIB_RM_VERSION_MISMATCH ->
                    "the library %s belongs to another driver than the kernel runs (%s)"
                            .formatted(place, reason);
            default -> reason;
        };
    }
}
