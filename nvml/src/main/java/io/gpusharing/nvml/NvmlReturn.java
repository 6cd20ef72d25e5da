package io.gpusharing.nvml;

/**
 * NVML's return codes. On the tick path an answer is a value of this enum, never an exception.
 *
 * <p>Source: the {@code nvmlReturn_t} of NVIDIA's nvml.h; the numbers are the same from CUDA 11.0
 * to 13.3.
 */
public enum NvmlReturn {
    SUCCESS(0, Remedy.NONE),
    UNINITIALIZED(1, Remedy.REINITIALISE),
    INVALID_ARGUMENT(2, Remedy.DEVICE_GONE),
    NOT_SUPPORTED(3, Remedy.LOWER_FOR_GOOD),
    NO_PERMISSION(4, Remedy.LOWER_AND_RETRY),
    ALREADY_INITIALIZED(5, Remedy.NONE),
    NOT_FOUND(6, Remedy.NOTHING_NEW),
    INSUFFICIENT_SIZE(7, Remedy.GROW),
    INSUFFICIENT_POWER(8, Remedy.LOWER_AND_RETRY),
    DRIVER_NOT_LOADED(9, Remedy.LEAVE),
    TIMEOUT(10, Remedy.ACCESS_DOUBTFUL),
    IRQ_ISSUE(11, Remedy.LOWER_AND_RETRY),
    LIBRARY_NOT_FOUND(12, Remedy.LOWER_FOR_GOOD),
    FUNCTION_NOT_FOUND(13, Remedy.LOWER_FOR_GOOD),
    CORRUPTED_INFOROM(14, Remedy.LOWER_AND_RETRY),
    GPU_IS_LOST(15, Remedy.DEVICE_GONE),
    RESET_REQUIRED(16, Remedy.DEVICE_GONE),
    OPERATING_SYSTEM(17, Remedy.ACCESS_DOUBTFUL),
    LIB_RM_VERSION_MISMATCH(18, Remedy.LEAVE),
    IN_USE(19, Remedy.LOWER_AND_RETRY),
    MEMORY(20, Remedy.LOWER_AND_RETRY),
    NO_DATA(21, Remedy.NOTHING_NEW),
    VGPU_ECC_NOT_SUPPORTED(22, Remedy.LOWER_FOR_GOOD),
    INSUFFICIENT_RESOURCES(23, Remedy.LOWER_AND_RETRY),
    FREQ_NOT_SUPPORTED(24, Remedy.LOWER_FOR_GOOD),
    ARGUMENT_VERSION_MISMATCH(25, Remedy.LOWER_FOR_GOOD),
    DEPRECATED(26, Remedy.LOWER_FOR_GOOD),
    NOT_READY(27, Remedy.LOWER_AND_RETRY),
    GPU_NOT_FOUND(28, Remedy.DEVICE_GONE),
    INVALID_STATE(29, Remedy.LOWER_AND_RETRY),
    RESET_TYPE_NOT_SUPPORTED(30, Remedy.LOWER_FOR_GOOD),
    UNKNOWN(999, Remedy.ACCESS_DOUBTFUL);

    private static final NvmlReturn[] BY_CODE = byCode();

    private final int code;
    private final Remedy remedy;

    NvmlReturn(int code, Remedy remedy) {
        this.code = code;
        this.remedy = remedy;
    }

    /** The constant of a code; {@link #UNKNOWN} for one that no header names. */
    public static NvmlReturn of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }

    private static NvmlReturn[] byCode() {
        NvmlReturn[] byCode = new NvmlReturn[RESET_TYPE_NOT_SUPPORTED.code + 1];
        for (NvmlReturn answer : values()) {
            if (answer != UNKNOWN) {
                byCode[answer.code] = answer;
            }
        }
        return byCode;
    }

    /** The number that NVML returns. */
    public int code() {
        return code;
    }

    /** What to do about it. */
    public Remedy remedy() {
        return remedy;
    }

    /** Whether the call did what it was asked for. */
    public boolean ok() {
        return remedy == Remedy.NONE;
    }
}
