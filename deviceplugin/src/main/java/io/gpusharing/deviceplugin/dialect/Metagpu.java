package io.gpusharing.deviceplugin.dialect;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.request.ContainerRequest;
import java.util.List;
import java.util.Map;

/**
 * {@code cnvrg.io/metagpu}, so many a GPU: a part of its processors and the same part of its
 * memory.
 *
 * @param resource the resource's name
 * @param unitsPerGpu how many units are a whole GPU, 1 to 100
 */
public record Metagpu(String resource, long unitsPerGpu) implements Dialect {

    @Override
    public String name() {
        return "metagpu";
    }

    @Override
    public List<String> resources() {
        return List.of(resource);
    }

    @Override
    public long units(String resource, NodeGpu gpu) {
        return unitsPerGpu;
    }

    @Override
    public GpuAsk ask(ContainerRequest container) {
        long units = Dialect.units(container, resource);
        if (units >= unitsPerGpu && units % unitsPerGpu == 0) {
            return new GpuAsk((int) (units / unitsPerGpu), NodeGpu.CORES, 0, true);
        }
        // More than a GPU and no multiple fits on none: admission refuses it before.
        int percent = (int) (units * 100 / unitsPerGpu);
        return new GpuAsk(units > 0 ? 1 : 0, percent, 0, percent, false);
    }

    /** The variables of cnvrg's plugin, without those of its own server. */
    @Override
    public Map<String, String> environment(
            ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus) {
        long memory =
                gpus.getFirst().physical().memoryMiB()
                        * Dialect.units(start.container(), resource)
                        / unitsPerGpu;
        return Map.of(
                "CNVRG_META_GPU_DEVICES",
                String.join(",", start.ids()),
                "METAGPU_MAX_MEM",
                Long.toString(memory));
    }
}
