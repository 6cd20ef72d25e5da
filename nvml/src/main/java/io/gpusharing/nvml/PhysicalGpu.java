package io.gpusharing.nvml;

/**
 * A GPU as it is plugged in.
 *
 * @param index NVML's number, which another GPU may have after a reboot
 * @param minor N of its {@code /dev/nvidiaN}
 * @param model the product's name; empty where it is not told
 * @param memoryMiB all of its memory, or its part of the computer's; 0 where MIG is on and NVML
 *     tells only the privileged
 * @param pciBusId as {@code /sys/bus/pci/devices} spells it; empty where it is not told
 * @param mig whether it is cut into instances now
 * @param unifiedMemory whether it has no memory of its own and uses the computer's, as GB10 does
 */
public record PhysicalGpu(
        int index,
        String uuid,
        int minor,
        String model,
        long memoryMiB,
        String pciBusId,
        boolean mig,
        boolean unifiedMemory) {

    /** One with memory of its own. */
    public PhysicalGpu(
            int index,
            String uuid,
            int minor,
            String model,
            long memoryMiB,
            String pciBusId,
            boolean mig) {
        this(index, uuid, minor, model, memoryMiB, pciBusId, mig, false);
    }

    /** The same by another number of NVML's. */
    public PhysicalGpu withIndex(int other) {
        return new PhysicalGpu(other, uuid, minor, model, memoryMiB, pciBusId, mig, unifiedMemory);
    }

    /** The same with so much of the computer's memory. */
    PhysicalGpu withMemory(long mebibytes) {
        return new PhysicalGpu(index, uuid, minor, model, mebibytes, pciBusId, mig, unifiedMemory);
    }
}
