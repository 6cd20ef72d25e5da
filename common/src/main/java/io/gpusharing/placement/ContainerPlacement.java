package io.gpusharing.placement;

import io.gpusharing.request.ContainerRequest.Kind;
import java.util.List;

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
}
