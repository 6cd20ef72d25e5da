package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.Balances;
import io.gpusharing.timekeeper.budget.Balances.Balance;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What was left of a budget at any instant. */
@RestController
class BalanceController {

    private final Balances balances;
    private final Clock clock;

    BalanceController(Balances balances, Clock clock) {
        this.balances = balances;
        this.clock = clock;
    }

    /**
     * A budget as of an instant. Amounts are micro-GPU-seconds.
     *
     * @param granted absent while it was unlimited
     * @param remaining negative by what was overrun; absent while it was unlimited
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record BalanceView(
            String budget,
            Instant at,
            Instant periodStart,
            @Nullable Instant periodEnd,
            @Nullable Long granted,
            long used,
            @Nullable Long remaining,
            String standing,
            @Nullable String grantedMinutes,
            String usedMinutes,
            @Nullable String remainingMinutes) {

        static BalanceView of(String budget, Instant at, Balance balance) {
            GpuTime granted = balance.granted();
            GpuTime left = balance.remaining();
            return new BalanceView(
                    budget,
                    at,
                    balance.period().start(),
                    balance.period().end(),
                    granted == null ? null : granted.microGpuSeconds(),
                    balance.used().microGpuSeconds(),
                    left == null ? null : left.microGpuSeconds(),
                    left == null ? "Unlimited" : left.isPositive() ? "InBudget" : "OverBudget",
                    granted == null ? null : granted.minutes(),
                    balance.used().minutes(),
                    left == null ? null : left.minutes());
        }
    }

    /**
     * What was left at an instant, as the ledger knows it today.
     *
     * @param at a whole second in the past; now if absent
     */
    @GetMapping("/api/v1/budgets/{budget}/balance")
    BalanceView balance(
            @PathVariable String budget, @RequestParam(required = false) @Nullable Instant at) {
        Instant instant = Span.past(at, clock.instant());
        return balances.at(budget, instant)
                .map(balance -> BalanceView.of(budget, instant, balance))
                .orElseThrow(() -> StatementController.unknown(budget, instant));
    }
}
