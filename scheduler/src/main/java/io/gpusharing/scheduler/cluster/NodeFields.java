package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.StreamedList;
import java.util.List;
import java.util.function.Consumer;

/** Which pods of a node the API server is asked for: it has an index of nodes. */
public final class NodeFields {

    private static final String NODE = "spec.nodeName=";

    /** Whoever may make pods may have thousands that a node never took. */
    private static final String NOT_ENDED = ",status.phase!=Succeeded,status.phase!=Failed";

    private NodeFields() {}

    /** Those that are bound there and have not ended. */
    public static String bound(String node) {
        return NODE + node + NOT_ENDED;
    }

    /** Those for which room is being made there. Pods without a node are in the index, too. */
    public static String nominated(String node) {
        return NODE + ",status.nominatedNodeName=" + node;
    }

    /**
     * Shows all of both, as the API server has them now; one that is bound meanwhile twice.
     *
     * @throws KubernetesClientException if it does not answer
     */
    public static void forEach(KubernetesClient client, String node, Consumer<Pod> pods) {
        for (String fields : List.of(nominated(node), bound(node))) {
            StreamedList.of(client, Pod.class).withFields(fields).forEach(pods);
        }
    }
}
