package io.gpusharing.deviceplugin.grant;

import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
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

    /** See {@link ContainerPlacement#held}. */
    public List<GpuHold> held() {
        return ContainerPlacement.held(containers);
    }
}
