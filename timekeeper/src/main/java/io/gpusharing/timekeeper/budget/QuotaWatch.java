package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.request.VcudaGrammar;
import io.gpusharing.timekeeper.ledger.Bookkeeper;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Follows the ResourceQuotas that limit vcuda: they are the reference of budgets with {@code share:
 * {reference: FromQuota}}, so that nothing is configured twice.
 */
@Component
class QuotaWatch implements SmartLifecycle, ResourceEventHandler<ResourceQuota> {

    private static final Logger log = LoggerFactory.getLogger(QuotaWatch.class);
    private static final String REQUESTS = "requests.";

    private final SharedIndexInformer<ResourceQuota> informer;
    private final Budgets budgets;
    private final Bookkeeper bookkeeper;
    private final Map<String, Reference> present = new ConcurrentHashMap<>();
    private final CompletableFuture<Void> known = new CompletableFuture<>();
    private volatile boolean running;

    QuotaWatch(KubernetesClient client, Budgets budgets, Bookkeeper bookkeeper) {
        this.informer = client.resourceQuotas().inAnyNamespace().runnableInformer(0);
        this.budgets = budgets;
        this.bookkeeper = bookkeeper;
    }

    private record Reference(String namespace, Fixed amounts) {}

    @Override
    public void start() {
        running = true;
        informer.addEventHandler(this);
        informer.exceptionHandler((started, problem) -> complain(problem));
        informer.start().thenRun(this::begin);
    }

    private static boolean complain(Throwable problem) {
        log.atWarn().setCause(problem).log("cannot read resourcequotas, asking again");
        return true;
    }

    private void begin() {
        informer.getStore().list().forEach(this::onAdd);
        tell();
        known.complete(null);
    }

    /**
     * When all quotas have been told. Who posts before would charge by whole GPUs what is charged
     * by a quota.
     */
    CompletionStage<Void> known() {
        return known;
    }

    @Override
    public void onAdd(ResourceQuota quota) {
        Optional<Reference> reference = reference(quota);
        String uid = quota.getMetadata().getUid();
        Reference before =
                reference.isPresent() ? present.put(uid, reference.get()) : present.remove(uid);
        if (before != null ? !reference.equals(Optional.of(before)) : reference.isPresent()) {
            tell();
        }
    }

    @Override
    public void onUpdate(ResourceQuota before, ResourceQuota after) {
        onAdd(after);
    }

    @Override
    public void onDelete(ResourceQuota quota, boolean finalStateUnknown) {
        if (present.remove(quota.getMetadata().getUid()) != null) {
            tell();
        }
    }

    private void tell() {
        var byNamespace = new HashMap<String, Fixed>();
        // Of several in one namespace the smallest is the one that holds.
        present.values()
                .forEach(it ->
                        byNamespace.merge(
                                it.namespace(),
                                it.amounts(),
                                (one, other) -> one.compute() <= other.compute() ? one : other));
        Map<String, Fixed> now = Map.copyOf(byNamespace);
        bookkeeper.between(() -> budgets.quotas(now));
    }

    /** Only a quota without scopes on both resources tells what the namespace may hold. */
    private static Optional<Reference> reference(ResourceQuota quota) {
        Map<String, Quantity> hard = quota.getSpec() == null ? null : quota.getSpec().getHard();
        if (hard == null
                || quota.getSpec().getScopeSelector() != null
                || !quota.getSpec().getScopes().isEmpty()) {
            return Optional.empty();
        }
        long compute = amount(hard.get(REQUESTS + VcudaGrammar.CORE));
        long memory = amount(hard.get(REQUESTS + VcudaGrammar.MEMORY));
        return compute > 0 && memory > 0
                ? Optional.of(
                        new Reference(
                                quota.getMetadata().getNamespace(), new Fixed(compute, memory)))
                : Optional.empty();
    }

    private static long amount(@Nullable Quantity quantity) {
        return quantity == null ? 0 : quantity.getNumericalAmount().longValue();
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
