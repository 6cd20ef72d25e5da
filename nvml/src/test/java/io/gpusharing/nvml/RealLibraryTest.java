package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A shared object that a C compiler made, opened by the dynamic loader: what upcall stubs cannot
 * show. Where there is no compiler this is reported as not run.
 */
class RealLibraryTest {

    private static final String SOURCE =
            """
            #include <string.h>
            typedef struct { unsigned pid; unsigned long long mem; unsigned gi, ci; } info_t;
            typedef struct { unsigned pid; unsigned long long ts; unsigned sm, fb, enc, dec; } util_t;
            static int up;
            int nvmlInit_v2(void) { up = 1; return 0; }
            int nvmlSystemGetDriverVersion(char *v, unsigned n) {
                strncpy(v, "580.159.03", n); return 0; }
            int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return up ? 0 : 1; }
            int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {
                static int device; if (i) return 6; *d = &device; return 0; }
            int nvmlDeviceGetUUID(void *d, char *u, unsigned n) {
                strncpy(u, "GPU-from-c", n); return 0; }
            int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, info_t *p) {
                if (*n < 2) { *n = 2; return 7; }
                p[0] = (info_t){17, 1ull << 30, -1, -1};
                p[1] = (info_t){3000000000u, 2ull << 30, -1, -1};
                *n = 2; return 0; }
            int nvmlDeviceGetProcessUtilization(
                    void *d, util_t *u, unsigned *n, unsigned long long seen) {
                if (*n < 1) { *n = 100; return 7; }
                u[0] = (util_t){17, seen + 1000000, 42, 7, 0, 0}; *n = 1; return 0; }
            """;

    @TempDir Path directory;

    @Test
    void aRealSharedObjectIsOpenedAndUnderstood() throws Exception {
        Path source = Files.writeString(directory.resolve("nvml.c"), SOURCE);
        Path library = SharedObject.compile(source, directory);

        NvmlLibrary opened = NvmlLibrary.open(library.toString());

        assertThat(opened).isInstanceOf(NvmlLibrary.Found.class);
        Nvml nvml = new Nvml(((NvmlLibrary.Found) opened).symbols());
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.driverVersion()).isEqualTo("580.159.03");
        assertThat(nvml.deviceCount()).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.result()).isEqualTo(1);
        assertThat(nvml.deviceByIndex(0)).isEqualTo(NvmlReturn.SUCCESS);
        long device = nvml.handle();
        assertThat(nvml.uuid(device)).isEqualTo("GPU-from-c");
        ProcessList list = new ProcessList();
        assertThat(nvml.runningProcesses(device, list)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(Arrays.copyOf(list.pid, list.count)).containsExactly(17, 3_000_000_000L);
        assertThat(list.memory[1]).isEqualTo(2L << 30);
        UtilizationRows rows = new UtilizationRows();
        assertThat(nvml.processUtilization(device, 5, rows)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(rows.count).isEqualTo(1);
        assertThat(rows.pid[0]).isEqualTo(17);
        assertThat(rows.timestamp[0]).isEqualTo(1_000_005);
        assertThat(rows.sm[0]).isEqualTo(42);
        assertThat(nvml.deviceSamples(device, 0, new DeviceSamples()))
                .isEqualTo(NvmlReturn.FUNCTION_NOT_FOUND);
    }
}
