package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What programs that know another provider read of a pod: on which GPUs it was placed, by the
 * numbers that NVML gives them. Nothing of ours reads it: numbers may change when a driver is
 * loaded again. Where the number of a GPU is not known nothing is said.
 */
public enum Dialect {
    /** gpu-admission and gpu-manager, which write these while they place and start a pod. */
    Vcuda {
        @Override
        Map<String, String> annotations(
                List<String> containers,
                List<ContainerPlacement> placed,
                SharedNode node,
                Instant at) {
            var annotations = new HashMap<String, String>();
            for (ContainerPlacement container : placed) {
                int position = containers.indexOf(container.container());
                if (container.kind() == Kind.App && position >= 0) {
                    annotations.put(
                            "tencent.com/predicate-gpu-idx-" + position,
                            container.gpus().stream()
                                    .map(hold -> String.valueOf(node.indexes().get(hold.gpu())))
                                    .collect(Collectors.joining(",")));
                }
            }
            annotations.put("tencent.com/predicate-node", node.name());
            annotations.put("tencent.com/predicate-time", nanoseconds(at));
            annotations.put("tencent.com/gpu-assigned", "true");
            return annotations;
        }
    },
    /** The extender of gpushare, which knows one GPU of a pod. */
    Aliyun {
        @Override
        Map<String, String> annotations(
                List<String> containers,
                List<ContainerPlacement> placed,
                SharedNode node,
                Instant at) {
            List<GpuHold> held = new Placement(node.name(), placed).held();
            Optional<Gpu> gpu =
                    node.gpus().stream()
                            .filter(it -> held.size() == 1 && it.id().equals(held.getFirst().gpu()))
                            .findFirst();
            return gpu.map(only ->
                            Map.of(
                                    "ALIYUN_COM_GPU_MEM_IDX",
                                    String.valueOf(node.indexes().get(only.id())),
                                    "ALIYUN_COM_GPU_MEM_DEV",
                                    units(only.size()),
                                    "ALIYUN_COM_GPU_MEM_POD",
                                    units(held.getFirst().memory()),
                                    "ALIYUN_COM_GPU_MEM_ASSIGNED",
                                    "true",
                                    "ALIYUN_COM_GPU_MEM_ASSUME_TIME",
                                    nanoseconds(at)))
                    .orElse(Map.of());
        }

        private String units(long mebibytes) {
            return Long.toString(mebibytes / ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT);
        }
    },
    /** Whose programs read no annotation. */
    Metagpu {
        @Override
        Map<String, String> annotations(
                List<String> containers,
                List<ContainerPlacement> placed,
                SharedNode node,
                Instant at) {
            return Map.of();
        }
    };

    /**
     * Annotations of a pod.
     *
     * @param containers names of all its app containers, in its order
     * @param placed those that have GPUs
     */
    abstract Map<String, String> annotations(
            List<String> containers, List<ContainerPlacement> placed, SharedNode node, Instant at);

    private static String nanoseconds(Instant at) {
        return Long.toString(at.getEpochSecond() * 1_000_000_000 + at.getNano());
    }
}
