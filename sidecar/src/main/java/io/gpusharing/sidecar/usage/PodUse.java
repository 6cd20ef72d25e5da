package io.gpusharing.sidecar.usage;

import java.util.List;

/** What one pod did with each GPU. {@code uid} is the pod's, as the API server knows it. */
public record PodUse(String uid, List<DeviceUse> devices) {}
