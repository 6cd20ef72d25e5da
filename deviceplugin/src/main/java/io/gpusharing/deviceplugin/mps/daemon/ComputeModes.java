package io.gpusharing.deviceplugin.mps.daemon;

import io.gpusharing.nvml.ComputeMode;
import java.io.IOException;

/** The compute mode of GPUs, a setting of the driver that outlives every process. */
public interface ComputeModes {

    /** Leaves them as they are: whoever passes MPS by then runs beside it, without limits. */
    ComputeModes UNCHANGED = (gpu, mode) -> {};

    /**
     * Sets that of a GPU.
     *
     * @throws IOException if it stays as it was
     */
    void set(String gpu, ComputeMode mode) throws IOException;
}
