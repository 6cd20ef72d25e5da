package io.gpusharing.cli.inspect;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node that shares its GPUs.
 *
 * @param address its internal IP address; null if the node was not shown to us
 * @param source who says which pod has what
 * @param tier how those who share a GPU are kept apart; null if nobody says
 * @param memoryUnitMiB in pieces of how many MiB memory is handed out
 * @param unplaced pods of the node of which nobody says on which GPU they are
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Host(
        String node,
        @Nullable String address,
        Source source,
        @Nullable String tier,
        int memoryUnitMiB,
        List<HostGpu> gpus,
        List<PodPart> unplaced) {

    /** Who says which pod has what. */
    enum Source {
        /** Our device plugin, in the {@code GpuNode}. */
        GpuNode("our device plugin"),
        /** The annotations of tkestack's gpu-manager, which our scheduler writes, too. */
        GpuManager("gpu-manager"),
        /** The annotations of Aliyun's gpushare, which our scheduler writes, too. */
        Gpushare("gpushare");

        private final String writer;

        Source(String writer) {
            this.writer = writer;
        }

        String writer() {
            return writer;
        }
    }

    Host {
        gpus = gpus.stream().sorted(Comparator.comparingInt(HostGpu::index)).toList();
        unplaced = unplaced.stream().sorted(PodPart.BY_NAME).toList();
    }

    /** The same with those GPUs alone on which pods of a namespace are. */
    Host of(String namespace) {
        return new Host(
                node,
                address,
                source,
                tier,
                memoryUnitMiB,
                gpus.stream()
                        .filter(gpu ->
                                gpu.pods().stream()
                                        .anyMatch(pod -> pod.namespace().equals(namespace)))
                        .toList(),
                unplaced.stream().filter(pod -> pod.namespace().equals(namespace)).toList());
    }

    static @Nullable String address(@Nullable Node node) {
        return node == null
                ? null
                : node.getStatus().getAddresses().stream()
                        .filter(it -> it.getType().equals("InternalIP"))
                        .map(NodeAddress::getAddress)
                        .findFirst()
                        .orElse(null);
    }
}
