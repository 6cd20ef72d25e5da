package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import java.io.IOException;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Takes back what pods hold that have ended: by the API server's word <em>and</em> without a living
 * process. Either alone is not enough: a pod that was deleted by force runs on for a while, and one
 * between two tries has no process.
 */
final class EndedPods {

    private final NodePods pods;
    private final Grants grants;
    private final PodProcesses processes;
    private final StartFiles files;

    /** Whether files may lie there of pods that hold nothing; so it is after a start of ours. */
    private volatile boolean untidy = true;

    EndedPods(NodePods pods, Grants grants, PodProcesses processes, StartFiles files) {
        this.pods = pods;
        this.grants = grants;
        this.processes = processes;
        this.files = files;
    }

    /**
     * Looks at all grants once.
     *
     * @return whether anything is free now that was not
     */
    boolean release() throws IOException {
        Set<String> ended =
                grants.all().stream()
                        .map(PodGrant::uid)
                        .filter(this::hasEnded)
                        .collect(Collectors.toSet());
        if (!ended.isEmpty()) {
            ended.removeAll(processes.alive(ended));
        }
        boolean released =
                grants.release(
                        grant -> ended.contains(grant.uid()) && !files.isStarting(grant.uid()));
        if (released || untidy) {
            untidy = true;
            files.removeIf(uid -> grants.of(uid).isEmpty());
            untidy = false;
        }
        return released;
    }

    private boolean hasEnded(String podUid) {
        return pods.isListed() && pods.byUid(podUid).map(NodePod::ended).orElse(true);
    }
}
