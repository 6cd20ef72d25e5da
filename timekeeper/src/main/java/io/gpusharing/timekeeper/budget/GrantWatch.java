package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.ledger.Bookkeeper;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Follows the {@code GpuGrant} objects. */
@Component
class GrantWatch implements SmartLifecycle, ResourceEventHandler<GpuGrant> {

    private static final Logger log = LoggerFactory.getLogger(GrantWatch.class);

    private final SharedIndexInformer<GpuGrant> informer;
    private final Budgets budgets;
    private final Bookkeeper bookkeeper;
    private final Leadership leadership;
    private final Map<String, Grant> present = new ConcurrentHashMap<>();
    private volatile boolean synced;
    private volatile boolean running;

    GrantWatch(
            KubernetesClient client,
            Budgets budgets,
            Bookkeeper bookkeeper,
            Leadership leadership) {
        this.informer = client.resources(GpuGrant.class).runnableInformer(0);
        this.budgets = budgets;
        this.bookkeeper = bookkeeper;
        this.leadership = leadership;
        leadership.listen(this::tell, () -> {});
    }

    @Override
    public void start() {
        running = true;
        informer.addEventHandler(this);
        informer.exceptionHandler((started, problem) -> complain(problem));
        informer.start().thenRun(this::begin);
    }

    private static boolean complain(Throwable problem) {
        log.atWarn().setCause(problem).log("cannot read gpugrants, asking again");
        return true;
    }

    private void begin() {
        informer.getStore().list().forEach(this::read);
        synced = true;
        tell();
    }

    /** Only a complete list says which grants have gone. */
    private void tell() {
        if (synced) {
            // What stands when it is done, not when it was told; see BudgetWatch.
            bookkeeper.between(this::write);
        }
    }

    /** The leader writes them down; the others read it. */
    private void write() {
        if (leadership.leads()) {
            budgets.granted(Map.copyOf(present).values());
        }
    }

    @Override
    public void onAdd(GpuGrant object) {
        if (read(object)) {
            tell();
        }
    }

    /** Whether it is new and counts. */
    private boolean read(GpuGrant object) {
        try {
            Grant grant = object.grant();
            return present.put(grant.uid(), grant) == null;
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("grant", object.getMetadata().getName())
                    .log("this grant cannot be read and does not count");
            return false;
        }
    }

    @Override
    public void onUpdate(GpuGrant before, GpuGrant after) {
        onAdd(after);
    }

    @Override
    public void onDelete(GpuGrant object, boolean finalStateUnknown) {
        present.remove(object.getMetadata().getUid());
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
