package io.gpusharing.deviceplugin.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.dialect.Dialect.ContainerStart;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DialectTest {

    private static final NodeGpu GPU =
            new NodeGpu(new PhysicalGpu(2, "GPU-2", 5, "Fake", 16376, "", false), null);

    @Test
    void aGpuIsAHundredCoresAndItsMemoryInBlocks() {
        assertThat(new Vcuda().units("tencent.com/vcuda-core", GPU)).isEqualTo(100);
        // 16 376 MiB are 63 blocks of 256 and a rest that nobody can ask for.
        assertThat(new Vcuda().units("tencent.com/vcuda-memory", GPU)).isEqualTo(63);
    }

    @Test
    void programsForGpushareFindTheirShareInTheirEnvironment() {
        var aliyun = new Aliyun();
        ContainerRequest container = asking("aliyun.com/gpu-mem", 4);

        assertThat(aliyun.units("aliyun.com/gpu-mem", GPU)).isEqualTo(15);
        assertThat(aliyun.asks(container)).containsExactly(new GpuAsk(1, 0, 4096, false));
        assertThat(environment(aliyun, container, 6))
                .isEqualTo(
                        Map.of(
                                "ALIYUN_COM_GPU_MEM_IDX", "2",
                                "ALIYUN_COM_GPU_MEM_POD", "6",
                                "ALIYUN_COM_GPU_MEM_CONTAINER", "4",
                                "ALIYUN_COM_GPU_MEM_DEV", "15"));
    }

    @Test
    void programsForMetagpuFindTheirUnitsAndTheirMemoryInTheirEnvironment() {
        var metagpu = Metagpu.USUAL;
        ContainerRequest container = asking("cnvrg.io/metagpu", 25);

        assertThat(metagpu.asks(container)).containsExactly(new GpuAsk(1, 25, 0, 25, false));
        assertThat(environment(metagpu, container, 25))
                .isEqualTo(
                        Map.of(
                                "CNVRG_META_GPU_DEVICES", "g2-0,g2-1",
                                "METAGPU_MAX_MEM", "4094"));
    }

    @Test
    void asManyMetagpusAsAGpuHasAreAWholeOne() {
        var metagpu = new Metagpu(new TreeMap<>(Map.of("cnvrg.io/metagpu", 10)));

        assertThat(metagpu.asks(asking("cnvrg.io/metagpu", 20)))
                .containsExactly(new GpuAsk(2, 100, 0, true));
        assertThat(metagpu.asks(asking("cnvrg.io/metagpu", 5)))
                .containsExactly(new GpuAsk(1, 50, 0, 50, false));
    }

    @Test
    void moreMetagpusThanAGpuHasAreWholeOnesAndAPartOfAnother() {
        ContainerRequest container = asking("cnvrg.io/metagpu", 250);

        assertThat(Metagpu.USUAL.asks(container))
                .containsExactly(new GpuAsk(2, 100, 0, true), new GpuAsk(1, 50, 0, 50, false));
        assertThat(
                        Metagpu.USUAL.environment(
                                new ContainerStart(container, 250, List.of()),
                                List.of(
                                        new GpuHold("GPU-1", 100, 40_960, true),
                                        new GpuHold("GPU-2", 50, 8_188, false)),
                                List.of(GPU, GPU)))
                .containsEntry("METAGPU_MAX_MEM", "49148");
    }

    private static Map<String, String> environment(
            Dialect dialect, ContainerRequest container, long podUnits) {
        return dialect.environment(
                new ContainerStart(container, podUnits, List.of("g2-0", "g2-1")),
                List.of(new GpuHold("GPU-2", 25, 4094, false)),
                List.of(GPU));
    }

    private static ContainerRequest asking(String resource, long units) {
        return new ContainerRequest(
                "cuda", Kind.App, Map.of(resource, Quantity.of(units)), Map.of());
    }
}
