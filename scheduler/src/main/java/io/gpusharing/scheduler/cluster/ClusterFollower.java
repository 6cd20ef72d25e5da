package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.ObjectInformer.Handler;

/**
 * Takes the objects that {@link ClusterWatch} follows, after placing has taken them. It keeps what
 * it needs of each: what it leaves is lost. Nothing is ordered between two kinds.
 */
public interface ClusterFollower {

    /** Takes the pods that admission has labelled and that have not ended; an end is a deletion. */
    Handler<Pod> pods();

    Handler<Node> nodes();

    Handler<Namespace> namespaces();

    Handler<GpuNode> gpuNodes();

    Handler<GpuReservation> reservations();
}
