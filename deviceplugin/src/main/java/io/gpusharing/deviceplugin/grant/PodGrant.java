package io.gpusharing.deviceplugin.grant;

import io.gpusharing.placement.ContainerPlacement;
import io.gpusharing.placement.GpuHold;
import io.gpusharing.placement.PodPlacement;
import java.util.List;

/**
 * What a pod was given, from the start of its first container to the end of its last process.
 *
 * @param uid the pod's
 * @param containers those that ask for GPUs
 */
public record PodGrant(
        String uid, String namespace, String pod, List<ContainerPlacement> containers) {

    public PodGrant {
        containers = List.copyOf(containers);
    }

    /** See {@link PodPlacement#held}. */
    public List<GpuHold> held() {
        return PodPlacement.held(containers);
    }
}
