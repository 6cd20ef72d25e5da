package io.gpusharing.nvml;

/** What the meter does about an answer of NVML. Exactly one of these; every return code has one. */
public enum Remedy {
    /** The call did what it was asked for. */
    NONE,
    /** There is nothing newer than what was seen: normal for an idle GPU. */
    NOTHING_NEW,
    /** The buffer was too small: grow it and ask again, a bounded number of times. */
    GROW,
    /** This device or driver will never answer: use the next basis. */
    LOWER_FOR_GOOD,
    /** Not allowed now: use the next basis and ask again after minutes. */
    LOWER_AND_RETRY,
    /** NVML lost its state: initialise it once more. */
    REINITIALISE,
    /** The device fell off the bus or waits for a reset: look for it again. */
    DEVICE_GONE,
    /** Access to the device may have been revoked: after three in a row, open NVML again. */
    ACCESS_DOUBTFUL,
    /**
     * The library belongs to another driver than the kernel runs. Only a new container gets the
     * right one, so the process reports and leaves.
     */
    LEAVE
}
