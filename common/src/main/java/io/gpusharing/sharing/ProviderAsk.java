package io.gpusharing.sharing;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * What containers ask of physical GPUs by the resources that our device plugin offers, in one way
 * or in none; by metagpu also in two: some GPUs whole, and a part of another. Memory is in MiB.
 */
public final class ProviderAsk {

    /** Device memory of one {@code aliyun.com/gpu-mem}. */
    public static final long MEBIBYTES_PER_ALIYUN_UNIT = 1024;

    private static final int ALL = 100;

    private final Map<String, Integer> metagpuUnits;

    /**
     * @param metagpuUnits the resources of the dialect metagpu, and how many units of each are a
     *     GPU
     */
    public ProviderAsk(Map<String, Integer> metagpuUnits) {
        this.metagpuUnits = Map.copyOf(metagpuUnits);
    }

    /**
     * A node as if all of its GPUs had so much memory, in MiB: in the units that our device plugin
     * offers.
     */
    public static NodeFacts alike(NodeFacts node, long memoryMiB) {
        var capacity = new HashMap<>(node.capacity());
        capacity.put(VcudaGrammar.CORE, Quantity.of(ALL));
        capacity.put(
                VcudaGrammar.MEMORY, Quantity.of(memoryMiB / VcudaGrammar.MEBIBYTES_PER_BLOCK));
        capacity.put(AliyunGrammar.COUNT, Quantity.of(1));
        capacity.put(AliyunGrammar.MEMORY, Quantity.of(memoryMiB / MEBIBYTES_PER_ALIYUN_UNIT));
        return new NodeFacts(capacity, node.labels(), node.annotations());
    }

    /** By whichever of the resources it asks; admission lets nobody mix them. */
    public List<GpuAsk> of(ContainerRequest container) {
        List<GpuAsk> vcuda = vcuda(container);
        if (!vcuda.isEmpty()) {
            return vcuda;
        }
        List<GpuAsk> aliyun = aliyun(container);
        return aliyun.isEmpty() ? metagpu(container, metagpuUnits) : aliyun;
    }

    /** Of all containers of a pod that ask for any, wherever they fit. */
    public List<ContainerAsk> of(PodRequest pod) {
        return asks(pod, this::of);
    }

    /**
     * What all containers of a pod ask for, wherever they fit.
     *
     * @param of what a container asks for
     */
    public static List<ContainerAsk> asks(
            PodRequest pod, Function<ContainerRequest, List<GpuAsk>> of) {
        return pod.containers().stream()
                .flatMap(it ->
                        of.apply(it).stream()
                                .map(ask -> new ContainerAsk(it.name(), it.kind(), ask, Set.of())))
                .toList();
    }

    /** By {@code tencent.com/vcuda-core} and {@code tencent.com/vcuda-memory}. */
    public static List<GpuAsk> vcuda(ContainerRequest container) {
        GpuAsk blocks = vcudaBlocks(container);
        return blocks.count() == 0
                ? List.of()
                : List.of(
                        new GpuAsk(
                                blocks.count(),
                                blocks.cores(),
                                blocks.memory() * VcudaGrammar.MEBIBYTES_PER_BLOCK,
                                blocks.whole()));
    }

    /** The same; memory in blocks of 256 MiB. */
    public static GpuAsk vcudaBlocks(ContainerRequest container) {
        Amounts limits = Amounts.of(container.limits());
        long cores = limits.units(VcudaGrammar.CORE);
        return cores >= ALL
                ? new GpuAsk((int) (cores / ALL), ALL, 0, true)
                : new GpuAsk(cores > 0 ? 1 : 0, cores, limits.units(VcudaGrammar.MEMORY), false);
    }

    /** By {@code aliyun.com/gpu-mem}, in GiB. */
    public static List<GpuAsk> aliyun(ContainerRequest container) {
        long units = units(container, AliyunGrammar.MEMORY);
        return units == 0
                ? List.of()
                : List.of(new GpuAsk(1, 0, units * MEBIBYTES_PER_ALIYUN_UNIT, false));
    }

    /**
     * By the resources of metagpu: a part of one GPU, whole ones, or both; a GPU and a half is one
     * whole and half of another.
     */
    public static List<GpuAsk> metagpu(
            ContainerRequest container, Map<String, Integer> unitsPerGpu) {
        int percent = metagpuPercent(container, unitsPerGpu);
        var asks = new ArrayList<GpuAsk>();
        if (percent >= ALL) {
            asks.add(new GpuAsk(percent / ALL, ALL, 0, true));
        }
        int part = percent % ALL;
        if (part > 0) {
            asks.add(new GpuAsk(1, part, 0, part, false));
        }
        return asks;
    }

    /** Hundredths of a GPU that it asks for by the resources of metagpu. */
    public static int metagpuPercent(ContainerRequest container, Map<String, Integer> unitsPerGpu) {
        long percent = 0;
        for (Map.Entry<String, Integer> resource : unitsPerGpu.entrySet()) {
            percent += units(container, resource.getKey()) * ALL / resource.getValue();
        }
        return (int) Math.min(percent, Amounts.MANY);
    }

    /** Whole units of a resource that a container asks for, a thousand million at most. */
    public static long units(ContainerRequest container, String resource) {
        return container.amount(resource).map(it -> Amounts.units(it.value())).orElse(0L);
    }
}
