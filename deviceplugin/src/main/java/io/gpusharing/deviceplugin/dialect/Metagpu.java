package io.gpusharing.deviceplugin.dialect;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.request.ContainerRequest;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * {@code cnvrg.io/metagpu}, so many a GPU: a part of its processors and the same part of its
 * memory. A site may have several such resources.
 *
 * @param unitsPerGpu how many units of each resource are a whole GPU, 1 to 100
 */
public record Metagpu(SortedMap<String, Integer> unitsPerGpu) implements Dialect {

    /** As the project itself has it. */
    public static final Metagpu USUAL = new Metagpu(new TreeMap<>(Map.of("cnvrg.io/metagpu", 100)));

    private static final int ALL = 100;

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
    public GpuAsk ask(ContainerRequest container) {
        int percent = percent(container);
        if (percent >= ALL && percent % ALL == 0) {
            return new GpuAsk(percent / ALL, NodeGpu.CORES, 0, true);
        }
        // More than a GPU and no multiple fits on none: admission refuses it before.
        return new GpuAsk(percent > 0 ? 1 : 0, percent, 0, percent, false);
    }

    /** Of one GPU. */
    private int percent(ContainerRequest container) {
        long percent = 0;
        for (Map.Entry<String, Integer> resource : unitsPerGpu.entrySet()) {
            percent += Dialect.units(container, resource.getKey()) * ALL / resource.getValue();
        }
        return Math.toIntExact(percent);
    }

    /** The variables of cnvrg's plugin, without those of its own server. */
    @Override
    public Map<String, String> environment(
            ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus) {
        long memory = gpus.getFirst().physical().memoryMiB() * percent(start.container()) / ALL;
        return Map.of(
                "CNVRG_META_GPU_DEVICES",
                String.join(",", start.ids()),
                "METAGPU_MAX_MEM",
                Long.toString(memory));
    }
}
