package io.gpusharing.deviceplugin.dialect;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * {@code cnvrg.io/metagpu}, so many a GPU: a part of its processors and the same part of its
 * memory; of more than one, GPUs and a part of another. A site may have several such resources.
 *
 * @param unitsPerGpu how many units of each resource are a whole GPU, 1 to 100
 */
public record Metagpu(SortedMap<String, Integer> unitsPerGpu) implements Dialect {

    /** As the project itself has it. */
    public static final Metagpu USUAL = new Metagpu(new TreeMap<>(Map.of("cnvrg.io/metagpu", 100)));

    @Override
    public String name() {
        return "metagpu";
    }

    @Override
    public List<String> resources() {
        return List.copyOf(unitsPerGpu.keySet());
    }

    @Override
    public long units(String resource, NodeGpu gpu) {
        return unitsPerGpu.getOrDefault(resource, 0);
    }

    @Override
    public List<GpuAsk> asks(ContainerRequest container) {
        return ProviderAsk.metagpu(container, unitsPerGpu);
    }

    /** The variables of cnvrg's plugin, without those of its own server. */
    @Override
    public Map<String, String> environment(
            ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus) {
        long memory = held.stream().mapToLong(GpuHold::memory).sum();
        return Map.of(
                "CNVRG_META_GPU_DEVICES",
                String.join(",", start.ids()),
                "METAGPU_MAX_MEM",
                Long.toString(memory));
    }
}
