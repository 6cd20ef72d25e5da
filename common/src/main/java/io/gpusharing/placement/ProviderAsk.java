package io.gpusharing.placement;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What containers ask of physical GPUs by the resources that our device plugin offers. Memory is in
 * MiB; a container that asks for none has the count 0.
 */
public final class ProviderAsk {

    /** Device memory of one {@code aliyun.com/gpu-mem}. */
    public static final long MEBIBYTES_PER_ALIYUN_UNIT = 1024;

    private static final int ALL = 100;

    /** More than any node has: where admission was passed by, sums must not overflow. */
    private static final long MANY = 1_000_000_000;

    private static final BigDecimal MOST = BigDecimal.valueOf(MANY);

    private final Map<String, Integer> metagpuUnits;

    /**
     * @param metagpuUnits the resources of the dialect metagpu, and how many units of each are a
     *     GPU
     */
    public ProviderAsk(Map<String, Integer> metagpuUnits) {
        this.metagpuUnits = Map.copyOf(metagpuUnits);
    }

    /** By whichever of the resources it asks; admission lets nobody mix them. */
    public GpuAsk of(ContainerRequest container) {
        GpuAsk vcuda = vcuda(container);
        if (vcuda.count() > 0) {
            return vcuda;
        }
        GpuAsk aliyun = aliyun(container);
        return aliyun.count() > 0 ? aliyun : metagpu(container, metagpuUnits);
    }

    /** Of all containers of a pod that ask for any, wherever they fit. */
    public List<ContainerAsk> of(PodRequest pod) {
        return asks(pod, Map.of());
    }

    /**
     * The same of a pod that is bound, each on the GPUs that its {@link PlacementAnnotation} names,
     * if any. What was written for another pod places nobody.
     */
    public List<ContainerAsk> placed(
            PodRequest pod, String podUid, Map<String, String> annotations) {
        return asks(
                pod,
                Optional.ofNullable(annotations.get(PlacementAnnotation.KEY))
                        .flatMap(PlacementAnnotation::parse)
                        .filter(it -> it.podUid().equals(podUid))
                        .map(PlacementAnnotation::gpus)
                        .orElse(Map.of()));
    }

    private List<ContainerAsk> asks(PodRequest pod, Map<String, Set<String>> on) {
        return pod.containers().stream()
                .map(it ->
                        new ContainerAsk(
                                it.name(), it.kind(), of(it), on.getOrDefault(it.name(), Set.of())))
                .filter(it -> it.ask().count() > 0)
                .toList();
    }

    /** By {@code tencent.com/vcuda-core} and {@code tencent.com/vcuda-memory}. */
    public static GpuAsk vcuda(ContainerRequest container) {
        GpuAsk blocks = VcudaPlacement.ask(container);
        return new GpuAsk(
                blocks.count(),
                blocks.cores(),
                blocks.memory() * VcudaGrammar.MEBIBYTES_PER_BLOCK,
                blocks.whole());
    }

    /** By {@code aliyun.com/gpu-mem}, in GiB. */
    public static GpuAsk aliyun(ContainerRequest container) {
        long units = units(container, AliyunGrammar.MEMORY);
        return new GpuAsk(units > 0 ? 1 : 0, 0, units * MEBIBYTES_PER_ALIYUN_UNIT, false);
    }

    /** By the resources of metagpu: a part of one GPU, or whole ones. */
    public static GpuAsk metagpu(ContainerRequest container, Map<String, Integer> unitsPerGpu) {
        int percent = metagpuPercent(container, unitsPerGpu);
        if (percent >= ALL && percent % ALL == 0) {
            return new GpuAsk(percent / ALL, ALL, 0, true);
        }
        // More than a GPU and no multiple fits on none: of several it would be parts.
        return new GpuAsk(percent > 0 ? 1 : 0, percent, 0, percent, false);
    }

    /** Hundredths of a GPU that it asks for by the resources of metagpu. */
    public static int metagpuPercent(ContainerRequest container, Map<String, Integer> unitsPerGpu) {
        long percent = 0;
        for (Map.Entry<String, Integer> resource : unitsPerGpu.entrySet()) {
            percent += units(container, resource.getKey()) * ALL / resource.getValue();
        }
        return (int) Math.min(percent, MANY);
    }

    /** Whole units of a resource that a container asks for, a thousand million at most. */
    public static long units(ContainerRequest container, String resource) {
        return container
                .amount(resource)
                .map(it -> it.value().min(MOST).max(BigDecimal.ZERO).longValue())
                .orElse(0L);
    }
}
