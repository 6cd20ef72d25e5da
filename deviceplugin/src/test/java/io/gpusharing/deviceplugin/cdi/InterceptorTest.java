package io.gpusharing.deviceplugin.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterceptorTest {

    private static final Path LIBRARY = Path.of("/opt/vgpu/libvgpu.so");

    @TempDir private Path shares;
    private Interceptor interceptor;

    @BeforeEach
    void write() throws IOException {
        interceptor = Interceptor.of(LIBRARY, shares, List.of("LIBCUDA_LOG_LEVEL=1"));
    }

    private String edits(GpuHold... holds) {
        var edits = new JsonObject();
        interceptor.addTo(edits, List.of(holds));
        return edits.toString();
    }

    @Test
    void aPartGetsTheLibraryAndItsLimits() throws IOException {
        assertThat(edits(new GpuHold("GPU-0", 30, 4_096, false)))
                .contains(
                        "LIBCUDA_LOG_LEVEL=1",
                        "CUDA_DEVICE_MEMORY_LIMIT=4096m",
                        "CUDA_DEVICE_SM_LIMIT=30",
                        "\"containerPath\":\"/opt/vgpu/libvgpu.so\"",
                        "\"containerPath\":\"/etc/ld.so.preload\"")
                .doesNotContain("rw");
        assertThat(Files.readString(shares.resolve("ld.so.preload"))).isEqualTo(LIBRARY + "\n");
    }

    @Test
    void whereOnlyMemoryIsAskedForNothingIsSaidOfProcessors() {
        assertThat(edits(new GpuHold("GPU-0", 0, 4_096, false)))
                .contains("MEMORY_LIMIT")
                .doesNotContain("SM_LIMIT");
    }

    @Test
    void aPartBesideAWholeGpuIsBeyondIt() {
        var part = new GpuHold("GPU-0", 30, 4_096, false);
        var whole = new GpuHold("GPU-1", 100, 15_360, true);

        assertThat(Interceptor.isBeyond(List.of(whole, part))).isTrue();
        assertThat(Interceptor.isBeyond(List.of(part))).isFalse();
        assertThat(Interceptor.isBeyond(List.of(whole, whole))).isFalse();
    }

    @ParameterizedTest(name = "whole: {0}")
    @ValueSource(booleans = {true, false})
    void wholeGpusAndClientsOfMpsDoNotGetIt(boolean whole) {
        Sharing sharing = whole ? Sharing.TIME_SLICES : Sharing.cooperative("cluster");

        assertThat(edits(new GpuHold("GPU-0", 30, 4_096, whole, sharing))).isEqualTo("{}");
    }
}
