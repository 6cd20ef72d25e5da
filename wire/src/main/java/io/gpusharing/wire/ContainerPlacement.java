package io.gpusharing.wire;

import io.gpusharing.request.ContainerRequest.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one container was given.
 *
 * @param container its name
 * @param kind when it runs beside the pod's other containers
 * @param gpus by UUID, whole ones first, memory in MiB
 */
public record ContainerPlacement(String container, Kind kind, List<GpuHold> gpus) {

    public ContainerPlacement {
        gpus = List.copyOf(gpus);
    }

    /**
     * What a pod holds of each GPU: of all containers that run together, or of an init container if
     * that is more. Init containers run one after the other, before the others.
     */
    public static List<GpuHold> held(List<ContainerPlacement> containers) {
        var held = new HashMap<String, GpuHold>();
        var sidecars = new HashMap<String, GpuHold>();
        for (ContainerPlacement container : containers) {
            if (container.kind() != Kind.Init) {
                add(held, container);
            }
            if (container.kind() == Kind.NativeSidecar) {
                add(sidecars, container);
            }
        }
        for (ContainerPlacement container : containers) {
            if (container.kind() == Kind.Init) {
                var step = new HashMap<>(sidecars);
                add(step, container);
                step.forEach((gpu, hold) -> held.merge(gpu, hold, ContainerPlacement::larger));
            }
        }
        return List.copyOf(held.values());
    }

    private static void add(Map<String, GpuHold> to, ContainerPlacement container) {
        for (GpuHold hold : container.gpus()) {
            to.merge(
                    hold.gpu(),
                    hold,
                    (one, other) ->
                            new GpuHold(
                                    one.gpu(),
                                    one.cores() + other.cores(),
                                    one.memory() + other.memory(),
                                    one.whole() || other.whole(),
                                    one.sharing()));
        }
    }

    private static GpuHold larger(GpuHold one, GpuHold other) {
        return new GpuHold(
                one.gpu(),
                Math.max(one.cores(), other.cores()),
                Math.max(one.memory(), other.memory()),
                one.whole() || other.whole(),
                // All containers of a pod share GPUs in the same way.
                one.sharing());
    }
}
