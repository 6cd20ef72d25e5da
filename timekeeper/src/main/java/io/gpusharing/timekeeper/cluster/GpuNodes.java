package io.gpusharing.timekeeper.cluster;

import io.gpusharing.request.NodeFacts;
import java.util.List;

/** The nodes that are there now. */
public interface GpuNodes {

    /** What is known of each; empty until all are known. */
    List<NodeFacts> nodes();
}
