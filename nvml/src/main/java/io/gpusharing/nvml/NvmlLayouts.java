package io.gpusharing.nvml;

import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/**
 * NVML's structs as 64-bit Linux lays them out, on x86-64 and on aarch64 alike.
 *
 * <p>Source: NVIDIA's nvml.h, CUDA 11.8 to 13.3; the sizes did not change in between. A versioned
 * struct carries {@code sizeof(struct) | version << 24} in its first field.
 */
public final class NvmlLayouts {

    /** {@code nvmlMemory_t}, in bytes; {@code used} includes what the driver reserves. */
    public static final StructLayout MEMORY =
            structLayout(
                    JAVA_LONG.withName("total"),
                    JAVA_LONG.withName("free"),
                    JAVA_LONG.withName("used"));

    /** {@code nvmlProcessInfo_v1_t}: the entries of the suffixless list calls. */
    public static final StructLayout PROCESS_INFO_V1 =
            structLayout(
                    JAVA_INT.withName("pid"),
                    paddingLayout(4),
                    JAVA_LONG.withName("usedGpuMemory"));

    /** {@code nvmlProcessInfo_v2_t}: the entries of {@code _v2} and of today's {@code _v3}. */
    public static final StructLayout PROCESS_INFO_V2 =
            structLayout(
                    JAVA_INT.withName("pid"),
                    paddingLayout(4),
                    JAVA_LONG.withName("usedGpuMemory"),
                    JAVA_INT.withName("gpuInstanceId"),
                    JAVA_INT.withName("computeInstanceId"));

    /** {@code nvmlProcessUtilizationSample_t}; the timestamp is in microseconds of CPU time. */
    public static final StructLayout PROCESS_UTILIZATION =
            structLayout(
                    JAVA_INT.withName("pid"),
                    paddingLayout(4),
                    JAVA_LONG.withName("timeStamp"),
                    JAVA_INT.withName("smUtil"),
                    JAVA_INT.withName("memUtil"),
                    JAVA_INT.withName("encUtil"),
                    JAVA_INT.withName("decUtil"));

    /** {@code nvmlProcessUtilizationInfo_v1_t}: here the timestamp comes first. */
    public static final StructLayout PROCESS_UTILIZATION_INFO =
            structLayout(
                    JAVA_LONG.withName("timeStamp"),
                    JAVA_INT.withName("pid"),
                    JAVA_INT.withName("smUtil"),
                    JAVA_INT.withName("memUtil"),
                    JAVA_INT.withName("encUtil"),
                    JAVA_INT.withName("decUtil"),
                    JAVA_INT.withName("jpgUtil"),
                    JAVA_INT.withName("ofaUtil"),
                    paddingLayout(4));

    /** {@code nvmlProcessesUtilizationInfo_v1_t}. */
    public static final StructLayout PROCESSES_UTILIZATION_INFO =
            structLayout(
                    JAVA_INT.withName("version"),
                    JAVA_INT.withName("processSamplesCount"),
                    JAVA_LONG.withName("lastSeenTimeStamp"),
                    ADDRESS.withName("procUtilArray"));

    /** {@code nvmlSample_t}: a timestamp in microseconds and a union of eight bytes. */
    public static final StructLayout SAMPLE =
            structLayout(JAVA_LONG.withName("timeStamp"), JAVA_LONG.withName("sampleValue"));

    /** {@code nvmlPciInfo_t}; the texts end with a NUL. */
    public static final StructLayout PCI_INFO =
            structLayout(
                    sequenceLayout(16, JAVA_BYTE).withName("busIdLegacy"),
                    JAVA_INT.withName("domain"),
                    JAVA_INT.withName("bus"),
                    JAVA_INT.withName("device"),
                    JAVA_INT.withName("pciDeviceId"),
                    JAVA_INT.withName("pciSubSystemId"),
                    sequenceLayout(32, JAVA_BYTE).withName("busId"));

    /** {@code nvmlEventData_t}. */
    public static final StructLayout EVENT_DATA =
            structLayout(
                    ADDRESS.withName("device"),
                    JAVA_LONG.withName("eventType"),
                    JAVA_LONG.withName("eventData"),
                    JAVA_INT.withName("gpuInstanceId"),
                    JAVA_INT.withName("computeInstanceId"));

    private NvmlLayouts() {}

    /** The version word of a struct: its size with the version in the top byte. */
    public static int version(StructLayout layout, int version) {
        return (int) layout.byteSize() | version << 24;
    }

    static long offset(StructLayout layout, String field) {
        return layout.byteOffset(StructLayout.PathElement.groupElement(field));
    }
}
