package io.gpusharing.nvml;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.StructLayout;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes and offsets as a C compiler gives them for NVIDIA's header, CUDA 11.8 to 13.3. */
class NvmlLayoutsTest {

    private static final Map<String, StructLayout> STRUCTS =
            Map.of(
                    "nvmlMemory_t", NvmlLayouts.MEMORY,
                    "nvmlProcessInfo_v1_t", NvmlLayouts.PROCESS_INFO_V1,
                    "nvmlProcessInfo_v2_t", NvmlLayouts.PROCESS_INFO_V2,
                    "nvmlProcessUtilizationSample_t", NvmlLayouts.PROCESS_UTILIZATION,
                    "nvmlProcessUtilizationInfo_v1_t", NvmlLayouts.PROCESS_UTILIZATION_INFO,
                    "nvmlProcessesUtilizationInfo_v1_t", NvmlLayouts.PROCESSES_UTILIZATION_INFO,
                    "nvmlSample_t", NvmlLayouts.SAMPLE,
                    "nvmlPciInfo_t", NvmlLayouts.PCI_INFO,
                    "nvmlEventData_t", NvmlLayouts.EVENT_DATA);

    @ParameterizedTest(name = "{0} has {1} bytes")
    @CsvSource({
        "nvmlMemory_t,24",
        "nvmlProcessInfo_v1_t,16",
        "nvmlProcessInfo_v2_t,24",
        "nvmlProcessUtilizationSample_t,32",
        "nvmlProcessUtilizationInfo_v1_t,40",
        "nvmlProcessesUtilizationInfo_v1_t,24",
        "nvmlSample_t,16",
        "nvmlPciInfo_t,68",
        "nvmlEventData_t,32"
    })
    void structsHaveTheCompilersSize(String struct, long bytes) {
        assertThat(struct(struct).byteSize()).isEqualTo(bytes);
    }

    @ParameterizedTest(name = "{0}.{1} is at {2}")
    @CsvSource({
        "nvmlMemory_t,free,8",
        "nvmlMemory_t,used,16",
        "nvmlProcessInfo_v1_t,usedGpuMemory,8",
        "nvmlProcessInfo_v2_t,usedGpuMemory,8",
        "nvmlProcessInfo_v2_t,gpuInstanceId,16",
        "nvmlProcessInfo_v2_t,computeInstanceId,20",
        "nvmlProcessUtilizationSample_t,timeStamp,8",
        "nvmlProcessUtilizationSample_t,smUtil,16",
        "nvmlProcessUtilizationSample_t,memUtil,20",
        "nvmlProcessUtilizationSample_t,encUtil,24",
        "nvmlProcessUtilizationSample_t,decUtil,28",
        "nvmlProcessUtilizationInfo_v1_t,timeStamp,0",
        "nvmlProcessUtilizationInfo_v1_t,pid,8",
        "nvmlProcessUtilizationInfo_v1_t,smUtil,12",
        "nvmlProcessUtilizationInfo_v1_t,memUtil,16",
        "nvmlProcessUtilizationInfo_v1_t,ofaUtil,32",
        "nvmlProcessesUtilizationInfo_v1_t,processSamplesCount,4",
        "nvmlProcessesUtilizationInfo_v1_t,lastSeenTimeStamp,8",
        "nvmlProcessesUtilizationInfo_v1_t,procUtilArray,16",
        "nvmlSample_t,sampleValue,8",
        "nvmlPciInfo_t,domain,16",
        "nvmlPciInfo_t,bus,20",
        "nvmlPciInfo_t,device,24",
        "nvmlPciInfo_t,busId,36",
        "nvmlEventData_t,eventType,8",
        "nvmlEventData_t,eventData,16",
        "nvmlEventData_t,gpuInstanceId,24"
    })
    void fieldsStandWhereTheCompilerPutsThem(String struct, String field, long offset) {
        assertThat(NvmlLayouts.offset(struct(struct), field)).isEqualTo(offset);
    }

    @ParameterizedTest(name = "{0} version 1 is {1}")
    @CsvSource({"nvmlProcessesUtilizationInfo_v1_t,0x01000018"})
    void aVersionWordIsSizeAndVersion(String struct, String word) {
        assertThat(NvmlLayouts.version(struct(struct), 1)).isEqualTo(Integer.decode(word));
    }

    private static StructLayout struct(String name) {
        return requireNonNull(STRUCTS.get(name));
    }
}
