package io.gpusharing.webhook.review;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What we read of a pod, or of a template of pods. Null stands for a field that is absent: whoever
 * adds to it has to make it first.
 *
 * @param metadata its metadata
 * @param spec its spec
 * @param source where the pod stands in the review
 */
public record PodView(Metadata metadata, Spec spec, Slice source) {

    /**
     * @param labels null if absent
     * @param annotations null if absent
     * @param controller who made it and looks after it; null if nobody does
     */
    public record Metadata(
            @Nullable Map<String, String> labels,
            @Nullable Map<String, String> annotations,
            @Nullable Owner controller) {

        /** Nothing is said. */
        public static final Metadata NONE = new Metadata(null, null, null);

        /** An annotation's value, or null. */
        public @Nullable String annotation(String key) {
            return annotations == null ? null : annotations.get(key);
        }

        /** A label's value, or null. */
        public @Nullable String label(String key) {
            return labels == null ? null : labels.get(key);
        }
    }

    /** A reference to the controller of an object, which lives in the same namespace. */
    public record Owner(String apiVersion, String kind, String name, String uid) {}

    /**
     * @param containers app containers
     * @param initContainers null if absent
     * @param volumes null if absent
     * @param priority as the API server has filled it in from the class
     * @param schedulerName who places it
     * @param platforms on which nodes it may run, by their platform
     * @param runAsUser of the pod's security context
     * @param podLevelResources whether the pod itself has {@code resources}
     * @param overhead of its RuntimeClass, cpu and memory
     * @param deadline whether it has {@code activeDeadlineSeconds}
     * @param imagePullSecrets null if absent
     * @param hostIpc whether its containers are in the node's IPC namespace
     * @param claims whether it has resource claims, its own or such that the scheduler makes for an
     *     extended resource; they may be for GPUs
     */
    public record Spec(
            List<Container> containers,
            @Nullable List<Container> initContainers,
            @Nullable List<Volume> volumes,
            @Nullable String priorityClassName,
            @Nullable Integer priority,
            @Nullable String preemptionPolicy,
            @Nullable String nodeName,
            @Nullable String schedulerName,
            Platforms platforms,
            @Nullable Long runAsUser,
            boolean podLevelResources,
            Map<String, Quantity> overhead,
            boolean deadline,
            @Nullable List<String> imagePullSecrets,
            boolean hostIpc,
            boolean claims) {

        private Spec with(List<Container> others) {
            return new Spec(
                    containers,
                    others,
                    volumes,
                    priorityClassName,
                    priority,
                    preemptionPolicy,
                    nodeName,
                    schedulerName,
                    platforms,
                    runAsUser,
                    podLevelResources,
                    overhead,
                    deadline,
                    imagePullSecrets,
                    hostIpc,
                    claims);
        }
    }

    /**
     * @param alwaysRestarts in an init container: it is a native sidecar
     * @param limits amounts of cpu, memory and GPUs
     * @param requests amounts of cpu, memory and GPUs
     * @param setsVisibleDevices whether it sets {@code NVIDIA_VISIBLE_DEVICES} to anything that may
     *     show a GPU
     * @param mpsVariable the first variable that it sets of those that begin with {@code
     *     CUDA_MPS_}; null if none
     * @param ownSharedMemory whether a volume is mounted at {@code /dev/shm}
     * @param source where it stands in the review
     */
    public record Container(
            String name,
            boolean alwaysRestarts,
            Map<String, Quantity> limits,
            Map<String, Quantity> requests,
            boolean privileged,
            boolean setsVisibleDevices,
            @Nullable String mpsVariable,
            boolean ownSharedMemory,
            Slice source) {

        /** Whether it asks for a GPU itself. */
        public boolean asksForAGpu() {
            return asks(limits) || asks(requests);
        }

        private static boolean asks(Map<String, Quantity> amounts) {
            return amounts.entrySet().stream()
                    .anyMatch(it -> isGpu(it.getKey()) && !it.getValue().isZero());
        }

        private static boolean isGpu(String resource) {
            return !resource.equals("cpu") && !resource.equals("memory");
        }

        private Container withoutGpus() {
            return new Container(
                    name,
                    alwaysRestarts,
                    withoutGpus(limits),
                    withoutGpus(requests),
                    privileged,
                    setsVisibleDevices,
                    mpsVariable,
                    ownSharedMemory,
                    source);
        }

        private static Map<String, Quantity> withoutGpus(Map<String, Quantity> amounts) {
            var kept = new HashMap<>(amounts);
            kept.keySet().removeIf(Container::isGpu);
            return kept;
        }
    }

    /**
     * @param hostPath path on the node; null for other volumes
     * @param source where it stands in the review
     */
    public record Volume(String name, @Nullable String hostPath, Slice source) {}

    /** An annotation's value, or null. */
    public @Nullable String annotation(String key) {
        return metadata.annotation(key);
    }

    /** A label's value, or null. */
    public @Nullable String label(String key) {
        return metadata.label(key);
    }

    /** Annotations, none if absent. */
    public Map<String, String> annotations() {
        return metadata.annotations() == null ? Map.of() : metadata.annotations();
    }

    /** App containers, then init containers. */
    public List<Container> allContainers() {
        if (initContainers().isEmpty()) {
            return spec.containers();
        }
        var all = new ArrayList<>(spec.containers());
        all.addAll(initContainers());
        return all;
    }

    /** Init containers, none if absent. */
    public List<Container> initContainers() {
        return spec.initContainers() == null ? List.of() : spec.initContainers();
    }

    /**
     * The pod as it would be if some of its init containers asked for no GPU.
     *
     * @param some their names
     */
    public PodView withoutGpusOf(Collection<String> some) {
        return with(
                initContainers().stream()
                        .map(it -> some.contains(it.name()) ? it.withoutGpus() : it)
                        .toList());
    }

    /**
     * The pod as it would be without some of its init containers.
     *
     * @param some their names
     */
    public PodView without(Collection<String> some) {
        return with(initContainers().stream().filter(it -> !some.contains(it.name())).toList());
    }

    private PodView with(List<Container> others) {
        return new PodView(metadata, spec.with(others), source);
    }

    /** Volumes, none if absent. */
    public List<Volume> volumes() {
        return spec.volumes() == null ? List.of() : spec.volumes();
    }

    /** What it asks for. */
    public PodRequest request() {
        var containers = new ArrayList<ContainerRequest>(spec.containers().size() + 1);
        for (Container container : spec.containers()) {
            containers.add(request(container, Kind.App));
        }
        for (Container container : initContainers()) {
            containers.add(
                    request(
                            container,
                            container.alwaysRestarts() ? Kind.NativeSidecar : Kind.Init));
        }
        return new PodRequest(containers);
    }

    private static ContainerRequest request(Container container, Kind kind) {
        return new ContainerRequest(
                container.name(), kind, container.limits(), container.requests());
    }
}
