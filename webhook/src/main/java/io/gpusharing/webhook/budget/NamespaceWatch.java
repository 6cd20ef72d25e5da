package io.gpusharing.webhook.budget;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.context.SmartLifecycle;

/** Knows which namespaces there are. Only warnings depend on it, so nothing waits for it. */
final class NamespaceWatch implements SmartLifecycle, ObjectInformer.Handler<Namespace> {

    private final ObjectInformer<Namespace> informer;
    private final Set<String> present = ConcurrentHashMap.newKeySet();
    private volatile boolean running;

    NamespaceWatch(KubernetesClient client, UnreadableObjects unreadable) {
        this.informer = new ObjectInformer<>("namespaces", client.namespaces(), unreadable);
    }

    /** Whether a namespace is known not to be there. */
    boolean lacks(String name) {
        return informer.hasSynced() && !informer.isInterrupted() && !present.contains(name);
    }

    @Override
    public void onUpdate(Namespace namespace) {
        present.add(namespace.getMetadata().getName());
    }

    @Override
    public void onDelete(Namespace namespace) {
        present.remove(namespace.getMetadata().getName());
    }

    @Override
    public void start() {
        running = true;
        var _ = informer.start(this);
    }

    @Override
    public void stop() {
        informer.close();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
