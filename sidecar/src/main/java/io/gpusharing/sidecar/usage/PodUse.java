package io.gpusharing.sidecar.usage;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one pod did with each GPU.
 *
 * @param uid the pod's, as the API server knows it
 * @param name null where it is not known; not part of a report
 */
public record PodUse(String uid, @Nullable PodName name, List<DeviceUse> devices) {}
