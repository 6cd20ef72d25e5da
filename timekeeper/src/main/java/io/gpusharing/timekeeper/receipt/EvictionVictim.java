package io.gpusharing.timekeeper.receipt;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Result;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A pod that was to go.
 *
 * @param budget its budget; a name with a slash is none: its namespace is unlimited
 * @param reason why this one, in words
 * @param cost micro-GPU-seconds of its run, which may be lost; null where nobody reckoned it
 * @param result what became of it; null until that is known
 * @param resultDetail what the API server said; empty where it said nothing
 */
@Embeddable
record EvictionVictim(
        String namespace,
        String name,
        String budget,
        String reason,
        @Nullable Long cost,
        @Enumerated(EnumType.STRING) @Nullable Result result,
        String resultDetail) {

    static EvictionVictim of(GpuEviction.Victim victim, NamespaceBudgets budgets) {
        return new EvictionVictim(
                victim.namespace(),
                victim.name(),
                Objects.requireNonNullElseGet(
                        victim.budget(), () -> budgets.name(victim.namespace())),
                victim.why(),
                victim.cost(),
                null,
                "");
    }

    EvictionVictim with(Answer answer) {
        return new EvictionVictim(
                namespace,
                name,
                budget,
                reason,
                cost,
                EvictionPlan.result(answer),
                Objects.requireNonNullElse(answer.detail(), ""));
    }
}
