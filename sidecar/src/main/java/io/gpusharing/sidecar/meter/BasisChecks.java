package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.DriverVersion;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.Remedy;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.Basis;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Proves or refuses each basis of one device, tick by tick, from what was read of the device. Used
 * by the NVML thread alone.
 */
final class BasisChecks {

    private static final long FAILING_FOR_MICROS = 60_000_000;
    private static final int TICKS_WITHOUT_JOIN = 5;

    private final Viewpoint view;
    private final DeviceReading reading;
    private final BasisSelector selector;
    private int unjoined;
    private long checkedProcesses;
    private long checkedDevice;
    private long checkedFrom;
    private long busyPercent;
    private long failingSince = -1;

    BasisChecks(Viewpoint view, DeviceReading reading, BasisSelector selector) {
        this.view = view;
        this.reading = reading;
        this.selector = selector;
    }

    /** Judges {@link Basis#PROCESS}, after rows and list were read. */
    void judgeProcess(Optional<DriverVersion> driver, @Nullable String sole, long now) {
        String refusal = refusesProcess(driver, sole, now);
        if (refusal == null) {
            selector.proven(Basis.PROCESS, now);
        } else {
            selector.refused(Basis.PROCESS, refusal);
        }
        if (neverJoined() && sole != null) {
            selector.refused(
                    Basis.PROCESS, "busy processes of the pod are not among the listed ones");
        }
    }

    private @Nullable String refusesProcess(
            Optional<DriverVersion> driver, @Nullable String sole, long now) {
        boolean silent = reading.rowsAnswer.remedy() == Remedy.NOTHING_NEW;
        if (!reading.rowsAnswer.ok() && !silent) {
            return Refusal.of("the process samples", reading.rowsAnswer);
        }
        if (!reading.listAnswer.ok()) {
            return Refusal.of("the process list", reading.listAnswer);
        }
        if (reading.list.mpsClients > 0 || reading.namesMpsServer) {
            return "MPS serves this GPU, and it is not known whose pids its samples carry";
        }
        String refusal = view.refusesProcess(driver, reading.everJoined);
        if (refusal != null) {
            return refusal;
        }
        // A pod that shares its GPU may not see its neighbours, who then keep it busy.
        boolean seesAll = sole != null || view.countsUnattributed();
        return seesAll && failingSince >= 0 && now - failingSince >= FAILING_FOR_MICROS
                ? "for a minute the GPU was busy and no process's samples were reported"
                : null;
    }

    /**
     * On a GPU of one pod alone every busy process is the pod's. If some are listed and the busy
     * ones are never among them, samples and list name processes differently, whatever the driver's
     * version promised.
     */
    private boolean neverJoined() {
        if (reading.joined) {
            unjoined = 0;
        } else if (reading.rows.count > 0 && reading.list.count > 0) {
            unjoined++;
        }
        return unjoined >= TICKS_WITHOUT_JOIN;
    }

    /**
     * Judges the two bases that take the device's own history, after it was read.
     *
     * @param sole the pod that has the GPU alone, or null
     */
    void judgeDevice(@Nullable String sole, long now) {
        NvmlReturn answer = reading.history.answer;
        boolean answers = reading.history.works();
        if (sole == null) {
            selector.refused(Basis.DEVICE, "the GPU is not known to belong to one pod alone");
        } else if (!answers) {
            selector.refused(Basis.DEVICE, Refusal.of("the device's samples", answer));
        } else {
            selector.proven(Basis.DEVICE, now);
        }
        String split = view.refusesSplit();
        if (split != null) {
            selector.refused(Basis.DEVICE_SPLIT, split);
        } else if (!answers) {
            selector.refused(Basis.DEVICE_SPLIT, Refusal.of("the device's samples", answer));
        } else if (!reading.listAnswer.ok()) {
            selector.refused(
                    Basis.DEVICE_SPLIT, Refusal.of("the process list", reading.listAnswer));
        } else {
            selector.proven(Basis.DEVICE_SPLIT, now);
        }
    }

    /**
     * If a device is busy for a minute and no process is, attribution is failing. Where processes
     * are listed, what they do not make up is work that is no process's, and theirs is right.
     *
     * @param processes busy hundredths of a microsecond over the processes
     * @param device the same over the device; negative where its history was not read
     * @param due whether what has come together is compared now
     */
    void compare(long processes, long device, boolean due, long now, long wall) {
        checkedProcesses += processes;
        checkedDevice += Math.max(0, device);
        if (!due || device < 0) {
            return;
        }
        long fivePercent = (wall - checkedFrom) * 5;
        busyPercent = wall > checkedFrom ? checkedDevice / (wall - checkedFrom) : 0;
        if (checkedDevice > fivePercent && checkedProcesses == 0) {
            failingSince = failingSince < 0 ? now : failingSince;
        } else {
            failingSince = -1;
        }
        checkedProcesses = 0;
        checkedDevice = 0;
        checkedFrom = wall;
    }

    /** How busy the device was between the last two comparisons. */
    long busyPercent() {
        return busyPercent;
    }
}
