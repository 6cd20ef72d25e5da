package io.gpusharing.placement;

import io.gpusharing.wire.ContainerPlacement;
import java.util.List;

/** Whether a pod gets its GPUs. */
public sealed interface Decision {

    /** It does. */
    record Placed(List<ContainerPlacement> containers) implements Decision {}

    /** Not now: others hold what it needs. */
    record Wait(String reason) implements Decision {}

    /** Never on this node. */
    record Never(String reason) implements Decision {}
}
