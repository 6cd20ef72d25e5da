package io.gpusharing.timekeeper.budget.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A budget as of an instant. Amounts are micro-GPU-seconds, rates micro-GPUs.
 *
 * @param granted what the period gives; absent if it is unlimited
 * @param remaining what is left, negative by what was overrun; absent if it is unlimited
 * @param exhaustedAt when its time ends, or ended, at the present rate; absent if it does not in
 *     this period
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record BudgetView(
        String name,
        Instant asOf,
        Instant periodStart,
        @Nullable Instant periodEnd,
        @Nullable Long granted,
        long used,
        @Nullable Long remaining,
        long rate,
        String standing,
        @Nullable Instant exhaustedAt,
        @Nullable String grantedMinutes,
        String usedMinutes,
        @Nullable String remainingMinutes,
        List<GpuBudgetStatus.NamespaceUse> namespaces) {

    static BudgetView of(BudgetState state, Instant now) {
        Instant micros = now.truncatedTo(ChronoUnit.MICROS);
        Instant asOf = micros.isBefore(state.asOf()) ? state.asOf() : micros;
        GpuTime granted = state.granted(asOf).orElse(null);
        GpuTime remaining = state.remaining(asOf).orElse(null);
        GpuTime used = state.used(asOf);
        return new BudgetView(
                state.name(),
                asOf,
                state.period().start(),
                state.period().end(),
                granted == null ? null : granted.microGpuSeconds(),
                used.microGpuSeconds(),
                remaining == null ? null : remaining.microGpuSeconds(),
                state.rate(),
                state.standingWord(asOf),
                state.exhaustedAt(),
                granted == null ? null : granted.minutes(),
                used.minutes(),
                remaining == null ? null : remaining.minutes(),
                state.namespacesAt(asOf).stream().map(NamespaceUse::published).toList());
    }
}
