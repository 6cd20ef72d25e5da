package io.gpusharing.deviceplugin.dialect;

import static io.gpusharing.request.grammar.AliyunGrammar.MEMORY;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;

/**
 * {@code aliyun.com/gpu-mem}, in GiB of one GPU's memory. In MiB a node of eight large GPUs would
 * have a million units, more than a kubelet's message holds.
 */
public record Aliyun() implements Dialect {

    @Override
    public String name() {
        return "aliyun";
    }

    @Override
    public List<String> resources() {
        return List.of(MEMORY);
    }

    @Override
    public long units(String resource, NodeGpu gpu) {
        return gpu.physical().memoryMiB() / ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT;
    }

    @Override
    public List<GpuAsk> asks(ContainerRequest container) {
        return ProviderAsk.aliyun(container);
    }

    /** The variables of gpushare-device-plugin, all in units. */
    @Override
    public Map<String, String> environment(
            ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus) {
        NodeGpu gpu = gpus.getFirst();
        return Map.of(
                "ALIYUN_COM_GPU_MEM_IDX", Integer.toString(gpu.physical().index()),
                "ALIYUN_COM_GPU_MEM_POD", Long.toString(start.podUnits()),
                "ALIYUN_COM_GPU_MEM_CONTAINER",
                        Long.toString(ProviderAsk.units(start.container(), MEMORY)),
                "ALIYUN_COM_GPU_MEM_DEV", Long.toString(units(MEMORY, gpu)));
    }
}
