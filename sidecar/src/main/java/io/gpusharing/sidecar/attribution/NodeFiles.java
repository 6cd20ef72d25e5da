package io.gpusharing.sidecar.attribution;

import io.gpusharing.sidecar.usage.PodName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a node's pods from its disk: their names, and who was given which GPU. The
 * grants of our device plugin say that exactly and go before the kubelet's table, which counts
 * units of a resource. None of the files is needed.
 */
public final class NodeFiles {

    /** What became of the device plugin's file. */
    public enum Grants {
        /** It is not there, and so no device plugin of ours is. */
        ABSENT,
        /** It says who may use which GPU. */
        READ,
        /** It is there, and is used for nothing. */
        UNREADABLE
    }

    private final KubeletFiles kubelet;
    private final GrantFile grants;
    private final Path mpsPod;
    private String mpsPodUid = "";
    private volatile Allocations allocations = Allocations.NONE;

    /**
     * @param checkpoint {@code /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint}
     * @param podLogs {@code /var/log/pods}
     * @param grants {@code /var/lib/gpusharing/grants.json}; beside it {@code mps-pod} has the UID
     *     of the pod that runs our MPS daemons
     * @param gpus what is a GPU in the kubelet's table
     */
    public NodeFiles(
            Path checkpoint, Path podLogs, Path grants, GpuResources gpus, GrantEvents events) {
        this.kubelet = new KubeletFiles(checkpoint, podLogs, gpus);
        this.grants = new GrantFile(grants, events);
        this.mpsPod = grants.resolveSibling("mps-pod");
    }

    /** Reads who was given what, as far as it changed. Never fails. */
    void refresh() {
        boolean kubeletChanged = kubelet.refreshAllocations();
        boolean grantsChanged = grants.refresh();
        if (kubeletChanged || grantsChanged) {
            allocations = kubelet.allocations().with(grants.pods());
        }
        try {
            mpsPodUid = Files.readString(mpsPod);
        } catch (IOException e) {
            // It stays what it was: no other pod ever has this UID.
        }
    }

    /** Whether a pod is the one that runs our MPS daemons on this node. */
    boolean runsMpsDaemons(String podUid) {
        return podUid.equals(mpsPodUid);
    }

    /** Reads the pods' names. */
    void refreshNames() {
        kubelet.refreshNames();
    }

    /** Who was given which GPU, as far as it is known. */
    Allocations allocations() {
        return allocations;
    }

    /** Whether a pod that was given no GPU can be told from one of which nothing is known. */
    public boolean knowsWhoAsked() {
        return allocations.exact() || kubelet.isReadable();
    }

    /** Whether the device plugin's grants are used. */
    public Grants grants() {
        return grants.state();
    }

    /** A pod's names, or null. */
    public @Nullable PodName name(String podUid) {
        PodName name = kubelet.name(podUid);
        if (name != null) {
            return name;
        }
        for (GrantedPod pod : grants.pods()) {
            if (pod.uid().equals(podUid)) {
                return new PodName(pod.namespace(), pod.pod());
            }
        }
        return null;
    }

    /** Whether the kubelet's folders name every pod, so that who has none is gone. */
    boolean knowsPods() {
        return kubelet.knowsPods();
    }

    /** Whether the kubelet keeps a folder of the pod. */
    boolean hasFolder(String podUid) {
        return kubelet.name(podUid) != null;
    }
}
