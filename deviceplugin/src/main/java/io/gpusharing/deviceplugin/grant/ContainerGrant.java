package io.gpusharing.deviceplugin.grant;

import io.gpusharing.placement.GpuHold;
import io.gpusharing.request.ContainerRequest.Kind;
import java.util.List;

/**
 * What one container was given.
 *
 * @param container its name
 * @param kind when it runs beside the pod's other containers
 * @param gpus by UUID, memory in MiB
 */
public record ContainerGrant(String container, Kind kind, List<GpuHold> gpus) {

    public ContainerGrant {
        gpus = List.copyOf(gpus);
    }
}
