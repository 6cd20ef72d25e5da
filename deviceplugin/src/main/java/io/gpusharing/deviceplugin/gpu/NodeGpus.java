package io.gpusharing.deviceplugin.gpu;

import java.util.List;

/** The physical GPUs of this node and their health. */
public interface NodeGpus {

    /**
     * All that NVML lists, in its order, and after them those that it used to list. A snapshot:
     * answers at once.
     */
    List<NodeGpu> all();
}
