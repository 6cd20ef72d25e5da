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
        return read(nvml, SystemMemory.OF_THIS_COMPUTER);
    }

    /**
     * Asks NVML, which is initialised.
     *
     * @param system divided among the GPUs of which NVML says that it does not know any memory
     */
    static GpuInventory read(Nvml nvml, SystemMemory system) {
        if (!nvml.deviceCount().ok()) {
            return new Refused(reason(NvmlCall.DEVICE_COUNT, nvml), nvml.answer());
        }
        int count = nvml.result();
        List<PhysicalGpu> gpus = new ArrayList<>();
        List<Unreadable> unreadable = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            read(nvml, system, index, gpus, unreadable);
        }
        long sharing = gpus.stream().filter(PhysicalGpu::unifiedMemory).count();
        gpus.replaceAll(
                gpu -> gpu.unifiedMemory() ? gpu.withMemory(gpu.memoryMiB() / sharing) : gpu);
        return new Listed(List.copyOf(gpus), List.copyOf(unreadable));
    }

    private static void read(
            Nvml nvml,
            SystemMemory system,
            int index,
            List<PhysicalGpu> gpus,
            List<Unreadable> unreadable) {
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
        // One with memory of its own can always say how much; a chip that shares the computer's
        // has none to tell.
        boolean unified = !mig && answer == NvmlReturn.NOT_SUPPORTED;
        long memory = answer.ok() ? nvml.memoryTotal() >>> 20 : unified ? system.mebibytes() : 0;
        if (!answer.ok()
                && !(unified && memory > 0)
                && !(mig && answer == NvmlReturn.NO_PERMISSION)) {
            unreadable.add(unreadable(index, uuid, NvmlCall.MEMORY_INFO, nvml));
            return;
        }
        String model = requireNonNullElse(nvml.name(device), "");
        String bus = requireNonNullElse(nvml.pciBusId(device), "");
        gpus.add(new PhysicalGpu(index, uuid, minor, model, memory, bus, mig, unified));
    }

    private static Unreadable unreadable(int index, String uuid, NvmlCall call, Nvml nvml) {
        return new Unreadable(index, uuid, reason(call, nvml), nvml.answer());
    }

    private static String reason(NvmlCall call, Nvml nvml) {
        return call.symbols().getFirst() + " answered " + nvml.answer();
    }
}
