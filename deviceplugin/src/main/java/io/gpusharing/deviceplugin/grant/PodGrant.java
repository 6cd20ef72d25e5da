package io.gpusharing.deviceplugin.grant;

import io.gpusharing.placement.GpuHold;
import io.gpusharing.request.ContainerRequest.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a pod was given, from the start of its first container to the end of its last process.
 *
 * @param uid the pod's
 * @param containers those that ask for GPUs
 */
public record PodGrant(String uid, String namespace, String pod, List<ContainerGrant> containers) {

    public PodGrant {
        containers = List.copyOf(containers);
    }

    /**
     * What it holds of each GPU: of all containers that run together, or of an init container if
     * that is more. Init containers run one after the other, before the others.
     */
    public List<GpuHold> held() {
        var held = new HashMap<String, GpuHold>();
        var sidecars = new HashMap<String, GpuHold>();
        for (ContainerGrant container : containers) {
            if (container.kind() != Kind.Init) {
                add(held, container);
            }
            if (container.kind() == Kind.NativeSidecar) {
                add(sidecars, container);
            }
        }
        for (ContainerGrant container : containers) {
            if (container.kind() == Kind.Init) {
                var step = new HashMap<>(sidecars);
                add(step, container);
                step.forEach((gpu, hold) -> held.merge(gpu, hold, PodGrant::larger));
            }
        }
        return List.copyOf(held.values());
    }

    private static void add(Map<String, GpuHold> to, ContainerGrant container) {
        for (GpuHold hold : container.gpus()) {
            to.merge(
                    hold.gpu(),
                    hold,
                    (one, other) ->
                            new GpuHold(
                                    one.gpu(),
                                    one.cores() + other.cores(),
                                    one.memory() + other.memory(),
                                    one.whole() || other.whole()));
        }
    }

    private static GpuHold larger(GpuHold one, GpuHold other) {
        return new GpuHold(
                one.gpu(),
                Math.max(one.cores(), other.cores()),
                Math.max(one.memory(), other.memory()),
                one.whole() || other.whole());
    }
}
