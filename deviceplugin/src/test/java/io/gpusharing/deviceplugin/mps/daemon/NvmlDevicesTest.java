package io.gpusharing.deviceplugin.mps.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.nvml.ComputeMode;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class NvmlDevicesTest {

    private static FakeNvml fake(String... lines) {
        return new FakeNvml(Scenario.parse(String.join("\n", lines)), new VirtualTime());
    }

    private static NvmlDevices devices(FakeNvml fake) {
        return new NvmlDevices(() -> new NvmlLibrary.Found(fake, "fake"));
    }

    @Test
    void theComputeModeOfTheGpuThatIsNamedIsSet() throws IOException {
        FakeNvml fake = fake("device GPU-1", "device GPU-2");

        devices(fake).set("GPU-2", ComputeMode.EXCLUSIVE_PROCESS);

        var nvml = new Nvml(fake);
        nvml.init();
        assertThat(List.of(mode(nvml, 0), mode(nvml, 1))).containsExactly(0, 3);
    }

    private static int mode(Nvml nvml, int index) {
        nvml.deviceByIndex(index);
        nvml.computeMode(nvml.handle());
        return nvml.result();
    }

    @Test
    void whoMayNotSetItSaysSo() {
        NvmlDevices devices = devices(fake("device GPU-1", "fail nvmlDeviceSetComputeMode 4"));

        assertThatThrownBy(() -> devices.set("GPU-1", ComputeMode.EXCLUSIVE_PROCESS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nvmlDeviceSetComputeMode answered NO_PERMISSION for GPU-1");
    }

    @Test
    void aModeThatIsThereAlreadyNeedsNoRight() throws IOException {
        NvmlDevices devices = devices(fake("device GPU-1", "fail nvmlDeviceSetComputeMode 4"));

        devices.set("GPU-1", ComputeMode.DEFAULT);
    }

    @Test
    void theComputeCapabilityIsWrittenAsNvidiaDoes() throws IOException {
        assertThat(devices(fake("device GPU-1")).computeCapability("GPU-1")).isEqualTo("9.0");
    }

    @Test
    void theProcessesOnAGpuAreItsOwn() throws IOException {
        NvmlDevices devices =
                devices(fake("device GPU-1", "device GPU-2", "process busy=30% device=1 pod=31"));

        assertThat(devices.processes("GPU-2")).containsExactly(31L);
        assertThat(devices.processes("GPU-1")).isEmpty();
    }

    @Test
    void aGpuThatHangsHoldsUpNoOther() throws Exception {
        FakeNvml hanging = fake("device GPU-1", "device GPU-2", "hang nvmlDeviceSetComputeMode");
        NvmlDevices devices = devices(hanging);
        var setting =
                new FutureTask<Void>(() -> {
                    devices.set("GPU-1", ComputeMode.EXCLUSIVE_PROCESS);
                    return null;
                });
        Thread thread = Thread.ofPlatform().start(setting);
        while (thread.getState() != Thread.State.WAITING && thread.isAlive()) {
            Thread.onSpinWait();
        }

        assertThat(devices.computeCapability("GPU-2")).isEqualTo("9.0");
        assertThat(setting.isDone()).isFalse();
        hanging.release();
        setting.get();
    }

    @Test
    void aGpuThatNvmlDoesNotListIsNamed() {
        assertThatThrownBy(() -> devices(fake("device GPU-1")).computeCapability("GPU-7"))
                .hasMessageContaining("NVML lists no GPU GPU-7");
    }
}
