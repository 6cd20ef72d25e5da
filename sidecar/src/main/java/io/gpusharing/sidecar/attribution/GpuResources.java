package io.gpusharing.sidecar.attribution;

import java.util.List;
import java.util.Set;

/**
 * The resources of the kubelet's table whose units are GPUs or parts of them.
 *
 * @param listed what asks for GPUs at this site, a prefix where a name ends in {@code *}; besides
 *     those that every site knows
 */
public record GpuResources(List<String> listed) {

    /** Those that every site knows. */
    public static final GpuResources KNOWN = new GpuResources(List.of());

    private static final Set<String> UNITS =
            Set.of("tencent.com/vcuda-core", "cnvrg.io/metagpu", "aliyun.com/gpu-mem");

    /** Its units are the memory of a GPU of which other units are counted already. */
    private static final String MEMORY_BESIDE = "tencent.com/vcuda-memory";

    public GpuResources {
        listed = List.copyOf(listed);
    }

    boolean contain(String resource) {
        return !resource.equals(MEMORY_BESIDE)
                && (resource.startsWith("nvidia.com/")
                        || UNITS.contains(resource)
                        || listed.stream().anyMatch(name -> matches(name, resource)));
    }

    private static boolean matches(String name, String resource) {
        return name.endsWith("*")
                ? resource.startsWith(name.substring(0, name.length() - 1))
                : resource.equals(name);
    }
}
