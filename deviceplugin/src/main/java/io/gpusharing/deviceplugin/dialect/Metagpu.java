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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code cnvrg.io/metagpu}, so many a GPU: a part of its processors and the same part of its
 * memory; of more than one, GPUs and a part of another. A site may have several such resources.
 *
 * @param unitsPerGpu how many units of each resource are a whole GPU, 1 to 100
 */
public record Metagpu(SortedMap<String, Integer> unitsPerGpu) implements Dialect {

    /** As the project itself has it. */
    public static final Metagpu USUAL = new Metagpu(new TreeMap<>(Map.of("cnvrg.io/metagpu", 100)));

    private static final int MOST_UNITS = 100;

    private static final Pattern UNITS =
            Pattern.compile("([a-z0-9.-]+/[A-Za-z0-9._-]+)=([0-9]{1,3})");

    /**
     * The resources that a site names with their units, {@code
     * cnvrg.io/metagpu=100,example.com/tenth=10}; the usual one if the text is blank.
     *
     * @throws IllegalArgumentException whose message is the part that names no resource or has
     *     other units than 1 to 100
     */
    public static Metagpu of(String text) {
        if (text.isBlank()) {
            return USUAL;
        }
        var units = new TreeMap<String, Integer>();
        for (String resource : text.split(",", -1)) {
            Matcher matcher = UNITS.matcher(resource.strip());
            int number = matcher.matches() ? Integer.parseInt(matcher.group(2)) : 0;
            if (number < 1 || number > MOST_UNITS) {
                throw new IllegalArgumentException(resource);
            }
            units.put(matcher.group(1), number);
        }
        return new Metagpu(units);
    }

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
