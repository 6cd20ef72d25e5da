package io.gpusharing.deviceplugin.cluster;

import io.gpusharing.request.PodRequest;
import java.util.Map;
import java.util.Set;

/**
 * A pod of this node, as the API server has it.
 *
 * @param isStatic whether it is the mirror of a static pod; the kubelet knows that one by another
 *     UID
 * @param ended whether it has succeeded or failed, so that none of its containers will run again
 * @param request what its containers ask for of extended resources
 * @param annotations those of ours
 * @param running names of the containers of all kinds that run
 * @param apps names of its app containers
 */
public record NodePod(
        String uid,
        String namespace,
        String name,
        boolean isStatic,
        boolean ended,
        PodRequest request,
        Map<String, String> annotations,
        Set<String> running,
        Set<String> apps) {

    public NodePod {
        annotations = Map.copyOf(annotations);
        running = Set.copyOf(running);
        apps = Set.copyOf(apps);
    }
}
