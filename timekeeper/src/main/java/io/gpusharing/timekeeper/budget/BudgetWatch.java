package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.timekeeper.ledger.Bookkeeper;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Follows the {@code GpuBudget} objects. Nothing is posted before they are known, and with them the
 * quotas that they may refer to.
 */
@Component
class BudgetWatch implements SmartLifecycle, ResourceEventHandler<GpuBudget> {

    private static final Logger log = LoggerFactory.getLogger(BudgetWatch.class);

    private final SharedIndexInformer<GpuBudget> informer;
    private final Budgets budgets;
    private final Bookkeeper bookkeeper;
    private final QuotaWatch quotas;
    private final Map<String, Budget> present = new ConcurrentHashMap<>();
    private volatile boolean synced;
    private volatile boolean running;

    BudgetWatch(
            KubernetesClient client, Budgets budgets, Bookkeeper bookkeeper, QuotaWatch quotas) {
        this.informer = client.resources(GpuBudget.class).runnableInformer(0);
        this.budgets = budgets;
        this.bookkeeper = bookkeeper;
        this.quotas = quotas;
    }

    @Override
    public void start() {
        running = true;
        informer.addEventHandler(this);
        // For ever: neither the API server nor the CRD has to be there yet.
        informer.exceptionHandler((started, problem) -> complain(problem));
        informer.start().runAfterBoth(quotas.known(), this::begin);
    }

    private boolean complain(Throwable problem) {
        log.atWarn().setCause(problem).log("cannot read gpubudgets, asking again");
        return true;
    }

    private void begin() {
        informer.getStore()
                .list()
                .forEach(it -> present.putIfAbsent(it.getMetadata().getName(), Budget.of(it)));
        synced = true;
        tell();
        bookkeeper.begin();
        log.atInfo().addKeyValue("budgets", present.size()).log("budgets are known");
    }

    private void tell() {
        if (synced) {
            // What stands when it is done, not when it was told: work that has to be tried again
            // must see that what was in its way has been deleted meanwhile.
            bookkeeper.between(() -> budgets.known(Map.copyOf(present).values()));
        }
    }

    @Override
    public void onAdd(GpuBudget object) {
        Budget budget = Budget.of(object);
        Budget before = present.put(budget.name(), budget);
        // What we publish ourselves changes nothing.
        if (before == null || !before.sameAs(budget)) {
            tell();
        }
    }

    @Override
    public void onUpdate(GpuBudget before, GpuBudget after) {
        onAdd(after);
    }

    @Override
    public void onDelete(GpuBudget object, boolean finalStateUnknown) {
        present.remove(object.getMetadata().getName());
        tell();
    }

    /** Whether all budgets are known. */
    boolean synced() {
        return synced;
    }

    /** All namespaces that any budget names. */
    Set<String> namedNamespaces() {
        return present.values().stream()
                .flatMap(budget -> budget.spec().namespaces().stream())
                .collect(Collectors.toSet());
    }

    /** Budgets that stand in the cluster now, with the status that was seen last. */
    @Nullable Budget present(String name) {
        return present.get(name);
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
