package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BalanceReplay;
import io.gpusharing.timekeeper.budget.account.UsedTime;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one budget used, as the ledger's rows have it.
 *
 * @param known only what was posted until then, by the database's clock; null for all
 */
public record BudgetUsage(UsageRepository rows, String budget, @Nullable Instant known)
        implements BalanceReplay.Usage, UsedTime {

    @Override
    public Map<String, GpuTime> posted(Instant from, @Nullable Instant to) {
        return known == null
                ? rows.posted(budget, from, to)
                : rows.knownAt(known, budget, from, Objects.requireNonNull(to));
    }

    @Override
    public Map<String, GpuTime> late(Instant before, Instant since) {
        return rows.late(budget, before, since, known);
    }

    @Override
    public GpuTime in(Instant from, Instant to) {
        return BalanceReplay.sum(rows.used(budget, from, to));
    }
}
