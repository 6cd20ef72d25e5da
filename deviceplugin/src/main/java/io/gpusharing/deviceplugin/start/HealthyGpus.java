package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.List;

/** The GPUs that a container was given, if it may start on them. */
final class HealthyGpus {

    private HealthyGpus() {}

    /**
     * Finds them, in the order of its grant.
     *
     * @param all GPUs of the node
     * @throws StartRefused if one of them is unhealthy, or gone
     */
    static List<NodeGpu> of(ContainerPlacement grant, List<NodeGpu> all) throws StartRefused {
        var own = new ArrayList<NodeGpu>();
        for (GpuHold hold : grant.gpus()) {
            NodeGpu gpu =
                    all.stream()
                            .filter(it -> it.uuid().equals(hold.gpu()))
                            .findFirst()
                            .orElseThrow(() ->
                                    StartRefused.forEver(
                                            "Its GPU %s is gone from this node; the pod has to be placed anew"
                                                    .formatted(hold.gpu())));
            if (!gpu.isUsable()) {
                String why =
                        "Its GPU %s is unhealthy: %s"
                                .formatted(
                                        hold.gpu(),
                                        gpu.fault() == null ? "it is split by MIG" : gpu.fault());
                throw gpu.isOfUse()
                        ? new StartRefused(why)
                        : StartRefused.forEver(why + "; the pod has to be placed anew");
            }
            own.add(gpu);
        }
        return own;
    }
}
