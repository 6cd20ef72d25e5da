package io.gpusharing.webhook.cluster;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a namespace stands at an instant.
 *
 * @param budget name of the budget that it draws on; null where none applies
 * @param standing what the budget's line says
 * @param onExhausted what the administrator wants when it is used up
 * @param asOf the instant
 * @param refills end of the period, where a budget that is used up has time again from then on;
 *     null otherwise
 */
public record NamespaceStanding(
        @Nullable String budget,
        Standing standing,
        OnExhausted onExhausted,
        Instant asOf,
        @Nullable Instant refills) {

    /** No budget applies. */
    public static NamespaceStanding unlimited(Instant asOf) {
        return new NamespaceStanding(null, new Unlimited(), OnExhausted.Observe, asOf, null);
    }

    /** Whether new pods get the lower class. */
    public boolean lowersPriority() {
        return isOver() && onExhausted != OnExhausted.Observe;
    }

    /** Whether new pods are denied. */
    public boolean refuses() {
        return isOver() && onExhausted == OnExhausted.Refuse;
    }

    private boolean isOver() {
        return switch (standing) {
            case OverBudget _ -> true;
            case InBudget _ -> false;
            case Unlimited _ -> false;
        };
    }
}
