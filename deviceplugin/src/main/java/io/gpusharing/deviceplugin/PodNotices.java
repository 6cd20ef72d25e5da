package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.PodEvents;
import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.start.Disagreement;
import io.gpusharing.sharing.Sharing.Way;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What the owners of pods are told of their GPUs. */
final class PodNotices {

    /** Where Events go. */
    interface Sink {
        /** See {@link PodEvents#tell}. */
        void tell(PodName pod, PodEvents.Type type, String reason, String message);
    }

    private final Sink sink;
    private final Map<String, String> toldFaults = new HashMap<>();
    private Set<Disagreement> toldDisagreements = Set.of();

    PodNotices(Sink sink) {
        this.sink = sink;
    }

    /** A pod was given its GPUs. */
    void granted(PodGrant grant) {
        List<GpuHold> parts =
                grant.containers().stream()
                        .flatMap(container -> container.gpus().stream())
                        .filter(hold -> !hold.whole())
                        .toList();
        String given =
                grant.containers().stream()
                        .map(PodNotices::words)
                        .collect(Collectors.joining("; "));
        sink.tell(
                PodName.of(grant),
                PodEvents.Type.Normal,
                "GpuGranted",
                parts.isEmpty() ? given : given + shared(parts.getFirst()));
    }

    private static String shared(GpuHold part) {
        return part.sharing().way() == Way.Cooperative
                ? ". The GPU is shared by MPS: each process has the limits of its container, a program can lift its own, and a fault of one may end all"
                : ". GPUs are shared by time slices: nothing keeps a pod from taking more of processors or memory than its share";
    }

    /** A limit of a pod is not what it asked for. */
    void rounded(NodePod pod, String message) {
        sink.tell(PodName.of(pod), PodEvents.Type.Normal, "ShareRounded", message);
    }

    private static String words(ContainerPlacement container) {
        return container.gpus().stream()
                .map(PodNotices::words)
                .collect(Collectors.joining(", ", container.container() + ": ", ""));
    }

    private static String words(GpuHold hold) {
        return hold.whole()
                ? "all of " + hold.gpu()
                : "%d of %d and %d MiB of %s"
                        .formatted(hold.cores(), NodeGpu.CORES, hold.memory(), hold.gpu());
    }

    /** GPUs have changed: tells the pods of those that have failed. */
    synchronized void gpusChanged(List<NodeGpu> gpus, List<PodGrant> grants) {
        for (NodeGpu gpu : gpus) {
            if (gpu.fault() == null) {
                toldFaults.remove(gpu.uuid());
            } else if (!gpu.fault().equals(toldFaults.put(gpu.uuid(), gpu.fault()))) {
                grants.stream()
                        .filter(grant -> holds(grant, gpu))
                        .forEach(grant ->
                                sink.tell(
                                        PodName.of(grant),
                                        PodEvents.Type.Warning,
                                        "GpuUnhealthy",
                                        "%s: %s. No container starts on it; delete the pod, so that it is placed anew"
                                                .formatted(gpu.uuid(), gpu.fault())));
            }
        }
    }

    /** Containers of these pods cannot open their GPUs any more. */
    void accessLost(List<PodGrant> grants) {
        for (PodGrant grant : grants) {
            sink.tell(
                    PodName.of(grant),
                    PodEvents.Type.Warning,
                    "GpuAccessLost",
                    "A reload of systemd has taken the GPUs from its containers: what has one open may go on, whatever opens one now fails. Delete the pod, so that it is made anew");
        }
    }

    /**
     * What the kubelet's table and our grants do not agree on: tells each pod once, while it lasts.
     */
    void disagreeing(Set<Disagreement> lasting) {
        for (Disagreement it : lasting) {
            if (!toldDisagreements.contains(it)) {
                sink.tell(
                        it.pod(),
                        PodEvents.Type.Warning,
                        "GpusDisagree",
                        switch (it.kind()) {
                            case UNGRANTED ->
                                    "It uses a GPU that no grant counts, so that others may get the same: another device plugin has started it, or its grant was lost. Delete it, so that it is placed anew";
                            case UNALLOCATED ->
                                    "The kubelet's table of devices has lost it: its units are given to others, who wait until it ends. Delete it, so that it is placed anew";
                        });
            }
        }
        toldDisagreements = lasting;
    }

    private static boolean holds(PodGrant grant, NodeGpu gpu) {
        return grant.held().stream().anyMatch(hold -> hold.gpu().equals(gpu.uuid()));
    }
}
