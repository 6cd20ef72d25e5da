package io.gpusharing.sidecar.usage;

/** How a number was come by: the best first. */
public enum Basis {
    /** Exact per process. */
    PROCESS("Process"),
    /** The integral of a GPU that is the pod's alone. */
    DEVICE("Device"),
    /** The integral of a shared GPU, divided among the pods with a process on it. */
    DEVICE_SPLIT("DeviceSplit"),
    /** Not measured: the time counts as uncovered. */
    ALLOCATION("Allocation");

    private final String wire;

    Basis(String wire) {
        this.wire = wire;
    }

    /** The name in a usage report. */
    public String wire() {
        return wire;
    }
}
