package io.gpusharing.deviceplugin.gpu;

/** What must have happened before containers may start again on a GPU that has failed. */
enum Cure {

    /**
     * NVML answered everything about it several times in a row, and no process was on it.
     *
     * <p>NVML's answers say that its driver can talk to it, and nothing of its processors, which
     * only work tries. What lived on it when it failed holds contexts that the driver is about to
     * tear down, or cannot: nobody new is put beside them. A GPU without any context is begun anew
     * by the next one.
     */
    CHECK,

    /**
     * It was initialised anew, by a reboot, by loading the driver or by coming back to the bus; and
     * {@link #CHECK} after that. As long as it was not, NVML may answer everything and computing
     * still fail, or give wrong results.
     */
    RESET
}
