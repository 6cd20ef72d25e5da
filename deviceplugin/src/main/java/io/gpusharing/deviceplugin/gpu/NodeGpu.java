package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.placement.Gpu;
import org.jspecify.annotations.Nullable;

/**
 * One physical GPU of this node. Where it is split by MIG, NVIDIA's own plugin offers its parts,
 * and we nothing.
 *
 * @param physical what NVML says of it
 * @param fault why no container may start on it, in words; null while it is healthy
 * @param isLost whether it stays so until somebody does something about it
 */
public record NodeGpu(PhysicalGpu physical, @Nullable String fault, boolean isLost) {

    /** One that is healthy, or will be again by itself. */
    public NodeGpu(PhysicalGpu physical, @Nullable String fault) {
        this(physical, fault, false);
    }

    /** Hundredths of a GPU's processors. */
    public static final long CORES = 100;

    /** Whether containers may start on it. */
    public boolean isUsable() {
        return !physical.mig() && fault == null;
    }

    /** Whether containers may start on it now or by and by. */
    public boolean isOfUse() {
        return !physical.mig() && !isLost;
    }

    /** Its name for life. */
    public String uuid() {
        return physical.uuid();
    }

    /** The GPU while nobody holds any of it, named by its UUID, its memory in MiB. */
    public Gpu empty() {
        return new Gpu(uuid(), CORES, physical.memoryMiB());
    }
}
