package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BalanceReplay;
import io.gpusharing.timekeeper.budget.account.UsedTime;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What one budget used, as the ledger's rows have it. */
record BudgetUsage(UsageRepository rows, String budget) implements BalanceReplay.Usage, UsedTime {

    @Override
    public Map<String, GpuTime> posted(Instant from, @Nullable Instant to) {
        return rows.posted(budget, from, to);
    }

    @Override
    public Map<String, GpuTime> late(Instant before, Instant since) {
        return rows.late(budget, before, since, null);
    }

    @Override
    public GpuTime in(Instant from, Instant to) {
        return BalanceReplay.sum(rows.used(budget, from, to));
    }
}
