package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.gpus.ClusterGpus;

/** Follows what the device plugins say of their nodes. */
final class GpuNodeWatch implements ObjectInformer.Handler<GpuNode> {

    private final ClusterGpus gpus;
    private final RefusedStarts refused;
    private final ObjectInformer<GpuNode> informer;

    GpuNodeWatch(
            KubernetesClient client,
            ClusterGpus gpus,
            RefusedStarts refused,
            UnreadableObjects unreadable) {
        this.gpus = gpus;
        this.refused = refused;
        this.informer =
                new ObjectInformer<>("gpunodes", client.resources(GpuNode.class), unreadable);
    }

    @Override
    public void onListed() {
        refused.onListed();
    }

    @Override
    public void onUpdate(GpuNode node) {
        try {
            gpus.describe(SharedNode.of(node.getMetadata().getName(), node.getStatus()));
        } catch (RuntimeException | StackOverflowError e) {
            // What it had is old, and who has it unknown: it offers nothing until it is read.
            gpus.remove(node.getMetadata().getName());
            throw e;
        } finally {
            refused.describe(node);
        }
    }

    @Override
    public void onDelete(GpuNode node) {
        gpus.remove(node.getMetadata().getName());
        refused.remove(node.getMetadata().getName());
    }

    ObjectInformer<GpuNode> informer() {
        return informer;
    }

    void start(ObjectInformer.Handler<GpuNode> follower) {
        informer.start(and(follower));
    }
}
