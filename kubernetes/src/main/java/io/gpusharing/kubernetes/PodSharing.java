package io.gpusharing.kubernetes;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Across;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads how pods share GPUs on nodes that serve MPS.
 *
 * @param across which pods may share a GPU by MPS; null where the site has none
 */
public record PodSharing(@Nullable Across across) {

    /** Without MPS. */
    public static final PodSharing NONE = new PodSharing(null);

    /**
     * What a pod asks of GPUs, each in its way.
     *
     * @param asks the same without a word about that
     */
    public List<ContainerAsk> of(Pod pod, List<ContainerAsk> asks) {
        if (across == null || asks.isEmpty()) {
            return asks;
        }
        ObjectMeta metadata = pod.getMetadata();
        PodSpec spec = pod.getSpec();
        boolean isEligible =
                Sharing.isEligible(
                        asks,
                        Boolean.TRUE.equals(spec.getHostIPC()),
                        Stream.concat(
                                                spec.getContainers().stream(),
                                                spec.getInitContainers().stream())
                                        .filter(PodSharing::hasSharedMemory)
                                        .map(Container::getName)
                                        .collect(toSet())
                                ::contains);
        return ContainerAsk.shared(
                asks,
                Sharing.of(across, metadata.getNamespace(), metadata.getAnnotations(), isEligible));
    }

    private static boolean hasSharedMemory(Container container) {
        return container.getVolumeMounts().stream()
                .anyMatch(mount -> Sharing.isSharedMemory(mount.getMountPath()));
    }
}
