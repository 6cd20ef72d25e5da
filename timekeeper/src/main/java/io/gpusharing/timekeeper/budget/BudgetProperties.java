package io.gpusharing.timekeeper.budget;

import io.gpusharing.kubernetes.GpuBudget;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How budgets are published.
 *
 * @param unnamedNamespaces what applies to a namespace that no {@code GpuBudget} names
 * @param gpuMinutes whole-GPU minutes a month for such namespaces, each or together; needed unless
 *     they are unlimited
 * @param periodCloses how long after its end a period's result is written down: what becomes known
 *     later about it counts in the next one
 * @param statusInterval least time between two writes of one budget's status for another rate, if
 *     the budget's end is near
 * @param statusSpacing the same while it is far: nobody decides otherwise by the older line. With
 *     more than fifty such a second, they take turns
 * @param statusRefresh how old the used time that {@code kubectl} shows may become while it grows
 * @param annotatePods whether an annotation says on running pods when their budget is used up;
 *     needs the right to patch pods, which the chart gives with {@code timekeeper.annotatePods}
 * @param excludedNamespaces the webhook leaves their pods alone; a budget that names one says so
 */
@ConfigurationProperties("gpusharing.budgets")
public record BudgetProperties(
        @DefaultValue("Unlimited") UnnamedNamespaces unnamedNamespaces,
        @Nullable String gpuMinutes,
        @DefaultValue("1h") Duration periodCloses,
        @DefaultValue("1s") Duration statusInterval,
        @DefaultValue("10s") Duration statusSpacing,
        @DefaultValue("30s") Duration statusRefresh,
        @DefaultValue("false") boolean annotatePods,
        @DefaultValue List<String> excludedNamespaces) {

    /** What applies to a namespace that no {@code GpuBudget} names. */
    public enum UnnamedNamespaces {
        /** No budget applies. */
        Unlimited,
        /** Each gets its own amount. */
        PerNamespace,
        /** All of them draw on one. */
        Shared
    }

    /** The budget that a namespace gets if none names it; empty if it is unlimited. */
    Optional<String> budgetOfUnnamed(String namespace) {
        return switch (unnamedNamespaces) {
            case Unlimited -> Optional.empty();
            case PerNamespace -> Optional.of(namespace);
            case Shared -> Optional.of(GpuBudget.OF_UNNAMED_NAMESPACES);
        };
    }

    public BudgetProperties {
        if (unnamedNamespaces != UnnamedNamespaces.Unlimited
                && (gpuMinutes == null || gpuMinutes.isBlank())) {
            throw new IllegalArgumentException(
                    "gpusharing.budgets.unnamed-namespaces is "
                            + unnamedNamespaces
                            + ": set gpusharing.budgets.gpu-minutes too, for instance 1200");
        }
    }
}
