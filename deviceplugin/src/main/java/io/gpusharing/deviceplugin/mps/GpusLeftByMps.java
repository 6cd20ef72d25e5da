package io.gpusharing.deviceplugin.mps;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs of a node that serves no MPS. One that was shared by it and never given back is
 * unhealthy: the driver may keep it exclusive, and then the second program on it fails.
 *
 * @param root where daemons have their folders, if there ever were any
 */
public record GpusLeftByMps(Path root, NodeGpus gpus) implements NodeGpus {

    @Override
    public List<NodeGpu> all() {
        List<NodeGpu> all = gpus.all();
        Set<String> left;
        try {
            left = GpuFolder.all(root).stream().map(GpuFolder::gpu).collect(Collectors.toSet());
        } catch (IOException e) {
            return all;
        }
        if (left.isEmpty()) {
            return all;
        }
        var judged = new ArrayList<NodeGpu>();
        for (NodeGpu gpu : all) {
            judged.add(
                    gpu.fault() == null && left.contains(gpu.uuid()) && !isGivenBack(gpu.uuid())
                            ? new NodeGpu(gpu.physical(), fault(gpu.uuid()))
                            : gpu);
        }
        return List.copyOf(judged);
    }

    private boolean isGivenBack(String uuid) {
        try {
            return DaemonState.read(new GpuFolder(root.resolve(uuid))).phase() == Phase.Stopped;
        } catch (IOException e) {
            return false;
        }
    }

    private String fault(String uuid) {
        return "It was shared by MPS, which this node serves no more, and was not given back: it may be exclusive to one process. If no daemon of MPS runs, reset it on the node (nvidia-smi -c 0 -i %s) and remove the folder %s"
                .formatted(uuid, root.resolve(uuid));
    }
}
