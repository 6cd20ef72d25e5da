package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.ObjectWatch;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Follows the ResourceQuotas that limit vcuda. They are the reference of budgets with {@code share:
 * {reference: FromQuota}}, so that nobody has to write the same amounts twice. Whoever posted
 * before they are known would charge by whole GPUs what a quota decides. A quota that cannot be
 * read is the reference that it was last: a slip in it shall not change what pods cost.
 */
@Component
public class QuotaWatch extends ObjectWatch<ResourceQuota, QuotaWatch.Reference> {

    private static final String REQUESTS = "requests.";

    /**
     * A quota of 5E, or of 9e999, is a way to say that there is none. What a pod holds is compared
     * with it as an exact fraction, whose terms must stay a {@code long} on a node of thousands of
     * GPUs.
     */
    private static final BigDecimal MAX_AMOUNT = BigDecimal.valueOf(1_000_000_000_000L);

    private final Budgets budgets;

    public QuotaWatch(
            KubernetesClient client,
            Budgets budgets,
            UnreadableObjects unreadable,
            LedgerWriter writer) {
        super(
                "resourcequotas",
                client.resourceQuotas().inAnyNamespace(),
                unreadable,
                writer,
                CompletableFuture.completedFuture(null));
        this.budgets = budgets;
    }

    /** What counts as one GPU in a namespace. */
    record Reference(String namespace, Fixed amounts) {}

    /** Only a quota on both resources and without scopes says what the namespace may hold. */
    @Override
    protected @Nullable Reference read(ResourceQuota quota) {
        if (quota.getSpec() == null
                || quota.getSpec().getScopeSelector() != null
                || !quota.getSpec().getScopes().isEmpty()) {
            return null;
        }
        Map<String, Quantity> hard =
                ResourceReader.amounts(quota.getSpec().getHard(), QuotaWatch::isOfVcuda);
        long compute = amount(hard.get(REQUESTS + VcudaGrammar.CORE));
        long memory = amount(hard.get(REQUESTS + VcudaGrammar.MEMORY));
        return compute > 0 && memory > 0
                ? new Reference(quota.getMetadata().getNamespace(), new Fixed(compute, memory))
                : null;
    }

    private static boolean isOfVcuda(String resource) {
        return resource.equals(REQUESTS + VcudaGrammar.CORE)
                || resource.equals(REQUESTS + VcudaGrammar.MEMORY);
    }

    private static long amount(@Nullable Quantity quantity) {
        return quantity == null
                ? 0
                : quantity.value().min(MAX_AMOUNT).max(BigDecimal.ZERO).longValue();
    }

    @Override
    protected void take(Collection<Reference> all) {
        // Of several in one namespace the smallest is the one that holds.
        budgets.quotas(
                all.stream()
                        .collect(
                                Collectors.toMap(
                                        Reference::namespace,
                                        Reference::amounts,
                                        BinaryOperator.minBy(
                                                Comparator.comparingLong(Fixed::compute)))));
    }
}
