package io.gpusharing.deviceplugin.dialect;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Map;

/** One family of resource names, as one of the projects that share GPUs has made it known. */
public sealed interface Dialect permits Aliyun, Metagpu, Vcuda {

    /** As the chart and the node's label call it. */
    String name();

    /** The resources that are offered. */
    List<String> resources();

    /**
     * Whether a container that asks for this resource is given its GPU by it. Of several that ask
     * for the same GPU one decides, and the others only count.
     */
    default boolean decides(String resource) {
        return true;
    }

    /** How many units of a resource one GPU is. */
    long units(String resource, NodeGpu gpu);

    /**
     * What a container asks of physical GPUs, memory in MiB: nothing, parts of one, whole ones, or
     * whole ones and then a part of another.
     */
    List<GpuAsk> asks(ContainerRequest container);

    /**
     * What programs written for this dialect find in their environment.
     *
     * @param held what the container was given, memory in MiB
     * @param gpus the GPUs that it was given, in the same order
     */
    Map<String, String> environment(ContainerStart start, List<GpuHold> held, List<NodeGpu> gpus);

    /**
     * A container that is about to start.
     *
     * @param container what it asks for
     * @param podUnits units of the resource that decides, as many as its pod asks for in all
     * @param ids the units that the kubelet gave it
     */
    record ContainerStart(ContainerRequest container, long podUnits, List<String> ids) {}
}
