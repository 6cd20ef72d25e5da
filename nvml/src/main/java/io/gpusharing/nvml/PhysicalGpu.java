package io.gpusharing.nvml;

/**
 * A GPU as it is plugged in.
 *
 * @param index NVML's number, which another GPU may have after a reboot
 * @param minor N of its {@code /dev/nvidiaN}
 * @param model the product's name; empty where it is not told
 * @param memoryMiB all of its memory; 0 where MIG is on and NVML tells only the privileged
 * @param pciBusId as {@code /sys/bus/pci/devices} spells it; empty where it is not told
 * @param mig whether it is cut into instances now
 */
public record PhysicalGpu(
        int index,
        String uuid,
        int minor,
        String model,
        long memoryMiB,
        String pciBusId,
        boolean mig) {}
