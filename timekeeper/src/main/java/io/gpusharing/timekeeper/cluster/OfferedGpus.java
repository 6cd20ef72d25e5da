package io.gpusharing.timekeeper.cluster;

import io.gpusharing.request.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which GPUs the nodes offer now. */
public interface OfferedGpus {

    /** The GPUs of each node, by resource name; empty until all nodes are known. */
    Optional<List<Map<String, Quantity>>> offered();
}
