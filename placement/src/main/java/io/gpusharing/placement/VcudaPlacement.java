package io.gpusharing.placement;

import static io.gpusharing.request.grammar.VcudaGrammar.CORE;
import static io.gpusharing.request.grammar.VcudaGrammar.MEMORY;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Which physical GPUs a pod holds, as tkestack's gpu-admission writes it at filtering and
 * gpu-manager at start: annotation {@code tencent.com/predicate-gpu-idx-N} names the GPU indexes of
 * the Nth container, joined by commas. Init containers have none.
 */
public final class VcudaPlacement {

    private static final String INDEX = "tencent.com/predicate-gpu-idx-";
    private static final long CORES_PER_GPU = 100;

    /** More GPUs than a node has; where an administrator mistypes, none is made up. */
    private static final long MOST_GPUS = 1_000;

    /** Digits of a container's number: more than a pod can have. */
    private static final int DIGITS = 4;

    private VcudaPlacement() {}

    static boolean reads(String annotation) {
        return annotation.startsWith(INDEX) && annotation.length() <= INDEX.length() + DIGITS;
    }

    /**
     * All GPUs of a node, all alike as gpu-manager takes them to be; null if it has none, or more
     * than a node can have.
     */
    static @Nullable GpuLayout layout(Amounts allocatable) {
        long gpus = allocatable.units(CORE) / CORES_PER_GPU;
        if (gpus == 0 || gpus > MOST_GPUS) {
            return null;
        }
        long memory = allocatable.units(MEMORY) / gpus;
        return new GpuLayout(
                LongStream.range(0, gpus)
                        .mapToObj(index -> new Gpu(Long.toString(index), CORES_PER_GPU, memory))
                        .toList());
    }

    /** What the pod holds of which GPU; null if not of all its containers. */
    static @Nullable List<GpuHold> holds(
            List<ContainerRequest> containers, Map<String, String> annotations) {
        var holds = new ArrayList<GpuHold>();
        for (int i = 0; i < containers.size(); i++) {
            GpuAsk ask = ProviderAsk.vcudaBlocks(containers.get(i));
            if (ask.count() == 0) {
                continue;
            }
            String index = annotations.get(INDEX + i);
            String[] gpus = index == null ? new String[0] : index.strip().split("\\s*,\\s*", -1);
            if (gpus.length != ask.count()) {
                return null;
            }
            for (String gpu : gpus) {
                holds.add(new GpuHold(gpu, ask.cores(), ask.memory(), ask.whole()));
            }
        }
        return holds;
    }
}
