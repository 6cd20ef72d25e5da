package io.gpusharing.deviceplugin.dialect;

import static io.gpusharing.request.grammar.VcudaGrammar.CORE;
import static io.gpusharing.request.grammar.VcudaGrammar.MEMORY;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;

/** {@code tencent.com/vcuda-core}, 100 a GPU, and {@code tencent.com/vcuda-memory} of 256 MiB. */
public record Vcuda() implements Dialect {

    @Override
    public String name() {
        return "vcuda";
    }

    @Override
    public List<String> resources() {
        return List.of(CORE, MEMORY);
    }

    @Override
    public boolean decides(String resource) {
        return resource.equals(CORE);
    }

    @Override
    public long units(String resource, NodeGpu gpu) {
        return resource.equals(CORE)
                ? NodeGpu.CORES
                : gpu.physical().memoryMiB() / VcudaGrammar.MEBIBYTES_PER_BLOCK;
    }

    @Override
    public List<GpuAsk> asks(ContainerRequest container) {
        return ProviderAsk.vcuda(container);
    }

    /** None: gpu-manager limits by its own library, which asks a socket. */
    @Override
    public Map<String, String> environment(
            ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus) {
        return Map.of();
    }
}
