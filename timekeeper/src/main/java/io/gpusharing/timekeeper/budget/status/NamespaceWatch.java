package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Knows which namespaces there are, so that a budget can say which of its names bring it nothing.
 * Nothing is charged or judged by it.
 */
@Component
class NamespaceWatch implements SmartLifecycle, ObjectInformer.Handler<Namespace> {

    private final ObjectInformer<Namespace> informer;
    private final Set<String> present = ConcurrentHashMap.newKeySet();
    private final Set<String> excluded;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean running;

    NamespaceWatch(
            KubernetesClient client,
            BudgetProperties properties,
            UnreadableObjects unreadable,
            @Value("${gpusharing.cluster.namespace}") String namespace) {
        this.informer = new ObjectInformer<>("namespaces", client.namespaces(), unreadable);
        this.excluded = new HashSet<>(properties.excludedNamespaces());
        excluded.add(namespace);
    }

    /** Calls back whenever a namespace comes or goes. Listeners must be quick. */
    void listen(Runnable listener) {
        listeners.add(listener);
    }

    /** Which of these names bring a budget nothing; empty until all namespaces are known. */
    Optional<UnmatchedNamespaces> among(List<String> names) {
        return informer.hasSynced()
                ? Optional.of(
                        new UnmatchedNamespaces(
                                names.stream().filter(name -> !present.contains(name)).toList(),
                                names.stream().filter(excluded::contains).toList()))
                : Optional.empty();
    }

    @Override
    public void start() {
        running = true;
        informer.start(this).thenRun(this::publish);
    }

    private void publish() {
        listeners.forEach(Runnable::run);
    }

    /** Only whether it is there matters. */
    @Override
    public void onUpdate(Namespace namespace) {
        if (present.add(namespace.getMetadata().getName())) {
            publish();
        }
    }

    @Override
    public void onDelete(Namespace namespace) {
        present.remove(namespace.getMetadata().getName());
        publish();
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
