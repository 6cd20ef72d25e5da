package io.gpusharing.nvml;

/** Who may use a device: {@code nvmlComputeMode_t}, of which we use two. */
public enum ComputeMode {
    /** Every process. */
    DEFAULT(0),
    /** One process; with MPS that is its server, and whoever passes MPS by fails. */
    EXCLUSIVE_PROCESS(3);

    private final int number;

    ComputeMode(int number) {
        this.number = number;
    }

    /** As NVML counts them. */
    public int number() {
        return number;
    }
}
