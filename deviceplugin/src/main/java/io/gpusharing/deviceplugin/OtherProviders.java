package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.cluster.ApiServer;
import io.gpusharing.deviceplugin.cluster.NodeView;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.UnitIds;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.kubelet.Checkpoint;
import io.gpusharing.deviceplugin.kubelet.CheckpointFile;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whether somebody else hands out this node's GPUs. Two that do so give the same GPU away twice, so
 * then we offer nothing.
 */
final class OtherProviders {

    private static final String WHOLE_GPUS = "nvidia.com/gpu";

    private final CheckpointFile table;
    private final Dialect dialect;
    private final NodeGpus gpus;
    private final Allocatable node;
    private final String name;

    /** Asks the API server what the node has to give. */
    interface Allocatable {
        Map<String, String> read() throws IOException, InterruptedException;
    }

    OtherProviders(
            CheckpointFile table, Dialect dialect, NodeGpus gpus, ApiServer api, String name) {
        this(table, dialect, gpus, () -> NodeView.read(api, name).allocatable(), name);
    }

    OtherProviders(
            CheckpointFile table, Dialect dialect, NodeGpus gpus, Allocatable node, String name) {
        this.table = table;
        this.dialect = dialect;
        this.gpus = gpus;
        this.node = node;
        this.name = name;
    }

    /**
     * Who else offers what we would, in words with what to do about it.
     *
     * @throws IOException if the kubelet's table cannot be read
     */
    Optional<String> refusal() throws IOException {
        Checkpoint kubelet = table.read();
        for (String resource : dialect.resources()) {
            Set<String> ids = kubelet.registered().getOrDefault(resource, Set.of());
            Optional<String> foreign = ids.stream().filter(id -> !UnitIds.isOurs(id)).findFirst();
            if (foreign.isPresent() && isOffered(resource)) {
                return Optional.of(words(resource, foreign.get()));
            }
        }
        return kubelet.registered().getOrDefault(WHOLE_GPUS, Set.of()).stream()
                .filter(this::isOneOfOurGpus)
                .findFirst()
                .filter(_ -> isOffered(WHOLE_GPUS))
                .map(id -> words(WHOLE_GPUS, id));
    }

    /**
     * The kubelet's table keeps what a plugin offered that is gone, until something else changes.
     */
    private boolean isOffered(String resource) {
        try {
            String amount = node.read().getOrDefault(resource, "0");
            return !amount.equals("0");
        } catch (IOException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** NVIDIA's plugin names a GPU by its UUID, with {@code ::N} behind it where it is shared. */
    private boolean isOneOfOurGpus(String id) {
        return gpus.all().stream()
                .filter(gpu -> !gpu.physical().mig())
                .map(NodeGpu::uuid)
                .anyMatch(uuid -> id.equals(uuid) || id.startsWith(uuid + "::"));
    }

    private String words(String resource, String id) {
        return ("%1$s is offered on node %2$s by another device plugin (one of its devices is %3$s), and two would give the same GPU away twice."
                        + " Find it by: kubectl get pods --all-namespaces --field-selector spec.nodeName=%2$s."
                        + " Keep it off this node, or give the node back to it: kubectl label node %2$s gpusharing.io/gpus-")
                .formatted(resource, name, id);
    }
}
