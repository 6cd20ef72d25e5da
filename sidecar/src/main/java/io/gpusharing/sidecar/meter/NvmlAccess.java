package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.Remedy;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether NVML can be asked now. What is closed is opened again once a minute. Used by the NVML
 * thread; {@link #nvml} and {@link #wantsToLeave} answer any thread.
 */
final class NvmlAccess {

    private static final long REOPEN_EVERY_MICROS = 60_000_000;

    private final Supplier<NvmlLibrary> source;
    private final MeterEvents events;
    private volatile @Nullable Nvml nvml;
    private volatile @Nullable String leave;
    private Optional<DriverVersion> driver = Optional.empty();
    private boolean open;
    private String closedBecause = "";
    private long openAt = Long.MIN_VALUE;

    NvmlAccess(Supplier<NvmlLibrary> source, MeterEvents events) {
        this.source = source;
        this.events = events;
    }

    /** The binding, opened or not; null before the library was found. */
    @Nullable Nvml nvml() {
        return nvml;
    }

    /** The binding, where it can be asked now; else null. */
    @Nullable Nvml usable() {
        return open ? nvml : null;
    }

    /** The driver's version; empty where it is unknown. */
    Optional<DriverVersion> driver() {
        return driver;
    }

    /** Whether it is time to open what is closed. */
    boolean isDue(long now) {
        return !open && now >= openAt;
    }

    /**
     * Opens NVML, or initialises it once more.
     *
     * @return why that failed; empty if it did not
     */
    String tryToOpen(long now) {
        Nvml current = nvml;
        if (current == null) {
            switch (source.get()) {
                case NvmlLibrary.Missing(String reason, List<String> tried) -> {
                    if (!reason.equals(closedBecause)) {
                        events.libraryMissing(tried);
                    }
                    return closed(reason, now);
                }
                case NvmlLibrary.Found(var symbols, String place) -> {
                    current = new Nvml(symbols);
                    nvml = current;
                    events.libraryOpened(place);
                }
            }
        }
        NvmlReturn answer = current.init();
        if (!answer.ok()) {
            String reason = "nvmlInit_v2 answered " + answer;
            if (answer.remedy() == Remedy.LEAVE) {
                leave(reason);
            }
            return closed(reason, now);
        }
        String version = current.driverVersion();
        driver = DriverVersion.parse(version);
        open = true;
        closedBecause = "";
        events.initialised(version);
        return "";
    }

    /** Lets go of NVML. */
    void close(String reason, long now) {
        Nvml current = usable();
        if (current != null) {
            current.shutdown();
        }
        closed(reason, now);
    }

    private String closed(String reason, long now) {
        open = false;
        openAt = now + REOPEN_EVERY_MICROS;
        if (!reason.equals(closedBecause)) {
            closedBecause = reason;
            events.closed(reason);
        }
        return reason;
    }

    /** Only a new container can mend this. */
    void leave(String reason) {
        if (leave == null) {
            leave = reason;
            events.leaving(reason);
        }
    }

    /** Why the process should leave, or null. */
    @Nullable String wantsToLeave() {
        return leave;
    }
}
