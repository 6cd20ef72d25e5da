package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.placement.Gpu;
import org.jspecify.annotations.Nullable;

/**
 * One physical GPU of this node.
 *
 * @param index NVML's, in the order of PCI bus ids; another one after a GPU is gone
 * @param uuid its name for life
 * @param minor N of {@code /dev/nvidiaN}
 * @param model as the driver calls it
 * @param memoryMebibytes device memory, free or not
 * @param mig whether it is split by MIG: then NVIDIA's own plugin offers its parts, and we nothing
 * @param fault why no container may start on it, in words; null while it is healthy
 */
public record NodeGpu(
        int index,
        String uuid,
        int minor,
        String model,
        long memoryMebibytes,
        boolean mig,
        @Nullable String fault) {

    /** Hundredths of a GPU's processors. */
    public static final long CORES = 100;

    /** Whether containers may start on it. */
    public boolean isUsable() {
        return !mig && fault == null;
    }

    /** The GPU while nobody holds any of it, named by its UUID, its memory in MiB. */
    public Gpu empty() {
        return new Gpu(uuid, CORES, memoryMebibytes);
    }
}
