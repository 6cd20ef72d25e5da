package io.gpusharing.nvml;

import static java.util.Objects.requireNonNullElse;

import java.util.ArrayList;
import java.util.List;

/** The GPUs of a computer: listed, or not and why. */
public sealed interface GpuInventory {

    /**
     * NVML says how many GPUs there are; none is possible.
     *
     * @param gpus those that could be read, in NVML's order
     * @param unreadable the others
     */
    record Listed(List<PhysicalGpu> gpus, List<Unreadable> unreadable) implements GpuInventory {}

    /**
     * NVML does not say how many GPUs there are.
     *
     * @param reason in words, with the answer
     */
    record Refused(String reason, NvmlReturn answer) implements GpuInventory {}

    /**
     * A GPU of which NVML does not say what must be known. It does not hide the others.
     *
     * @param index NVML's number
     * @param uuid empty where not even that can be read
     * @param reason in words, with the answer
     */
    record Unreadable(int index, String uuid, String reason, NvmlReturn answer) {}

    /** Asks NVML, which is initialised. */
    static GpuInventory read(Nvml nvml) {
        if (!nvml.deviceCount().ok()) {
            return new Refused(reason(NvmlCall.DEVICE_COUNT, nvml), nvml.answer());
        }
        int count = nvml.result();
        List<PhysicalGpu> gpus = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            read(nvml, index, gpus, unreadable);
        }
        return new Listed(List.copyOf(gpus), List.copyOf(unreadable));
    }

    private static void read(
            Nvml nvml, int index, List<PhysicalGpu> gpus, List<Unreadable> unreadable) {
        if (!nvml.deviceByIndex(index).ok()) {
            unreadable.add(unreadable(index, "", NvmlCall.DEVICE_BY_INDEX, nvml));
            return;
        }
        long device = nvml.handle();
        String uuid = nvml.uuid(device);
        if (uuid == null) {
            unreadable.add(unreadable(index, "", NvmlCall.UUID, nvml));
            return;
        }
        if (!nvml.minorNumber(device).ok()) {
            unreadable.add(unreadable(index, uuid, NvmlCall.MINOR_NUMBER, nvml));
            return;
        }
        int minor = nvml.result();
        NvmlReturn answer = nvml.migMode(device);
        // Before Ampere there is no MIG; any other refusal must not pass for MIG that is off.
        if (!answer.ok() && answer.remedy() != Remedy.LOWER_FOR_GOOD) {
            unreadable.add(unreadable(index, uuid, NvmlCall.MIG_MODE, nvml));
            return;
        }
        boolean mig = answer.ok() && nvml.result() == 1;
        answer = nvml.memoryInfo(device);
        if (!answer.ok() && !(mig && answer == NvmlReturn.NO_PERMISSION)) {
            unreadable.add(unreadable(index, uuid, NvmlCall.MEMORY_INFO, nvml));
            return;
        }
        long memory = answer.ok() ? nvml.memoryTotal() >>> 20 : 0;
        String model = requireNonNullElse(nvml.name(device), "");
        String bus = requireNonNullElse(nvml.pciBusId(device), "");
        gpus.add(new PhysicalGpu(index, uuid, minor, model, memory, bus, mig));
    }

    private static Unreadable unreadable(int index, String uuid, NvmlCall call, Nvml nvml) {
        return new Unreadable(index, uuid, reason(call, nvml), nvml.answer());
    }

    private static String reason(NvmlCall call, Nvml nvml) {
        return call.symbols().getFirst() + " answered " + nvml.answer();
    }
}
