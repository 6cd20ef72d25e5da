package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Knows which namespaces there are, so that a budget can say which of its names bring it nothing.
 * Nothing is charged or judged by it.
 */
@Component
class NamespaceWatch implements SmartLifecycle, ResourceEventHandler<Namespace> {

    private final SharedIndexInformer<Namespace> informer;
    private final Set<String> excluded;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean running;

    NamespaceWatch(
            KubernetesClient client, BudgetProperties properties, ClusterProperties cluster) {
        this.informer = client.namespaces().runnableInformer(0);
        this.excluded = new HashSet<>(properties.excludedNamespaces());
        excluded.add(cluster.namespace());
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
                                names.stream()
                                        .filter(name -> informer.getStore().getByKey(name) == null)
                                        .toList(),
                                names.stream().filter(excluded::contains).toList()))
                : Optional.empty();
    }

    @Override
    public void start() {
        running = true;
        informer.addEventHandler(this);
        // For ever: the first list may fail, the API server comes back.
        informer.exceptionHandler((started, problem) -> true);
        informer.start().thenRun(this::tell);
    }

    private void tell() {
        listeners.forEach(Runnable::run);
    }

    @Override
    public void onAdd(Namespace namespace) {
        tell();
    }

    @Override
    public void onUpdate(Namespace before, Namespace after) {
        // Only whether it is there matters.
    }

    @Override
    public void onDelete(Namespace namespace, boolean finalStateUnknown) {
        tell();
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
