package io.gpusharing.deviceplugin.cluster;

import io.gpusharing.request.PodRequest;
import java.util.Map;

/**
 * A pod of this node, as the API server has it.
 *
 * @param isStatic whether it is the mirror of a static pod; the kubelet knows that one by another
 *     UID
 * @param ended whether it has succeeded or failed, so that none of its containers will run again
 * @param deleting whether it is to end: none of its containers starts any more
 * @param request what its containers ask for of extended resources
 * @param annotations those of ours
 * @param running the IDs of the containers of all kinds that run, by name
 */
public record NodePod(
        String uid,
        String namespace,
        String name,
        boolean isStatic,
        boolean ended,
        boolean deleting,
        PodRequest request,
        Map<String, String> annotations,
        Map<String, String> running) {

    public NodePod {
        annotations = Map.copyOf(annotations);
        running = Map.copyOf(running);
    }
}
