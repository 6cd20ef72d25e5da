package io.gpusharing.nvml;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.util.List;

/**
 * The calls we make, each with the exported symbols that can serve it, the preferred one first.
 *
 * <p>The C header maps a bare name to its newest suffix at compile time; the exported names carry
 * the suffix, and a bare {@code …RunningProcesses} keeps its first, 16-byte ABI.
 *
 * <p>Pointers and opaque handles travel as {@code long}: the same register class in the System V
 * and AArch64 conventions, and no object per call.
 */
@SuppressWarnings("ImmutableEnumChecker") // Descriptors and List.of are immutable.
public enum NvmlCall {
    INIT(args(), "nvmlInit_v2"),
    SHUTDOWN(args(), "nvmlShutdown"),
    DRIVER_VERSION(args(JAVA_LONG, JAVA_INT), "nvmlSystemGetDriverVersion"),
    DEVICE_COUNT(args(JAVA_LONG), "nvmlDeviceGetCount_v2"),
    DEVICE_BY_INDEX(args(JAVA_INT, JAVA_LONG), "nvmlDeviceGetHandleByIndex_v2"),
    UUID(args(JAVA_LONG, JAVA_LONG, JAVA_INT), "nvmlDeviceGetUUID"),
    NAME(args(JAVA_LONG, JAVA_LONG, JAVA_INT), "nvmlDeviceGetName"),
    MINOR_NUMBER(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetMinorNumber"),
    PCI_INFO(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetPciInfo_v3"),
    SAMPLES(
            args(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            "nvmlDeviceGetSamples"),
    MEMORY_INFO(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetMemoryInfo"),
    // _v2 before _v3: drivers R530 to early R535 shipped a _v3 with 32-byte entries, the _v2 export
    // has always had 24, and field for field they are equal.
    COMPUTE_PROCESSES(
            args(JAVA_LONG, JAVA_LONG, JAVA_LONG),
            "nvmlDeviceGetComputeRunningProcesses_v2",
            "nvmlDeviceGetComputeRunningProcesses_v3",
            "nvmlDeviceGetComputeRunningProcesses"),
    GRAPHICS_PROCESSES(
            args(JAVA_LONG, JAVA_LONG, JAVA_LONG),
            "nvmlDeviceGetGraphicsRunningProcesses_v2",
            "nvmlDeviceGetGraphicsRunningProcesses_v3",
            "nvmlDeviceGetGraphicsRunningProcesses"),
    MPS_PROCESSES(
            args(JAVA_LONG, JAVA_LONG, JAVA_LONG),
            "nvmlDeviceGetMPSComputeRunningProcesses_v2",
            "nvmlDeviceGetMPSComputeRunningProcesses_v3",
            "nvmlDeviceGetMPSComputeRunningProcesses"),
    PROCESS_UTILIZATION(
            args(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), "nvmlDeviceGetProcessUtilization"),
    PROCESSES_UTILIZATION_INFO(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetProcessesUtilizationInfo"),
    COMPUTE_CAPABILITY(args(JAVA_LONG, JAVA_LONG, JAVA_LONG), "nvmlDeviceGetCudaComputeCapability"),
    COMPUTE_MODE(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetComputeMode"),
    SET_COMPUTE_MODE(args(JAVA_LONG, JAVA_INT), "nvmlDeviceSetComputeMode"),
    MIG_MODE(args(JAVA_LONG, JAVA_LONG, JAVA_LONG), "nvmlDeviceGetMigMode"),
    MIG_MAX_COUNT(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetMaxMigDeviceCount"),
    MIG_BY_INDEX(args(JAVA_LONG, JAVA_INT, JAVA_LONG), "nvmlDeviceGetMigDeviceHandleByIndex"),
    EVENT_SET_CREATE(args(JAVA_LONG), "nvmlEventSetCreate"),
    EVENT_SET_FREE(args(JAVA_LONG), "nvmlEventSetFree"),
    SUPPORTED_EVENTS(args(JAVA_LONG, JAVA_LONG), "nvmlDeviceGetSupportedEventTypes"),
    REGISTER_EVENTS(args(JAVA_LONG, JAVA_LONG, JAVA_LONG), "nvmlDeviceRegisterEvents"),
    EVENT_SET_WAIT(args(JAVA_LONG, JAVA_LONG, JAVA_INT), "nvmlEventSetWait_v2");

    private final FunctionDescriptor descriptor;
    private final List<String> symbols;

    NvmlCall(FunctionDescriptor descriptor, String... symbols) {
        this.descriptor = descriptor;
        this.symbols = List.of(symbols);
    }

    /** Arguments and the {@code nvmlReturn_t} as the C ABI passes them. */
    public FunctionDescriptor descriptor() {
        return descriptor;
    }

    /** Exported names, the preferred one first. */
    public List<String> symbols() {
        return symbols;
    }

    private static FunctionDescriptor args(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }
}
