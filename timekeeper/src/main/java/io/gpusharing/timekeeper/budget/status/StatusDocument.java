package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.CreditEntry;
import io.gpusharing.budget.GpuBudgetStatus.NamespaceUse;
import io.gpusharing.budget.GpuBudgetStatus.PeriodEdges;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes a budget's state as the {@code status} of its {@code GpuBudget}. */
public final class StatusDocument {

    private StatusDocument() {}

    /**
     * The status as of an instant.
     *
     * @param alerts that its conditions say
     * @param unmatched names in its list that bring it nothing; empty while that is not known
     * @param uncounted GPUs that nobody is charged for; empty while that is not known
     * @param before the status that stands there; its conditions keep their transition times
     */
    public static GpuBudgetStatus of(
            BudgetState state,
            Instant now,
            Alerts alerts,
            Optional<UnmatchedNamespaces> unmatched,
            Optional<Uncounted> uncounted,
            @Nullable GpuBudgetStatus before) {
        BudgetState at = state.at(now);
        Instant asOf = at.asOf();
        Optional<GpuTime> granted = at.granted(asOf);
        Optional<GpuTime> remaining = at.remaining(asOf);
        GpuTime used = at.used(asOf);
        Instant exhausted = at.exhaustedAt();
        return new GpuBudgetStatus(
                at.generation(),
                asOf.toString(),
                new PeriodEdges(at.period().start().toString(), text(at.period().end())),
                granted.map(GpuTime::microGpuSeconds).orElse(null),
                used.microGpuSeconds(),
                remaining.map(GpuTime::microGpuSeconds).orElse(null),
                at.rate(),
                at.line()
                        .map(line -> line.credits().stream().map(StatusDocument::credit).toList())
                        .orElse(null),
                text(exhausted),
                at.standing(asOf).word(),
                granted.map(GpuTime::minutes).orElse(null),
                used.minutes(),
                remaining.map(GpuTime::minutes).orElse(null),
                BigDecimal.valueOf(at.rate(), 6).stripTrailingZeros().toPlainString(),
                at.namespaces().stream().map(StatusDocument::namespace).toList(),
                BudgetConditions.of(at, alerts, unmatched, uncounted, before));
    }

    private static CreditEntry credit(Credit credit) {
        return new CreditEntry(
                credit.source(),
                credit.remaining().microGpuSeconds(),
                credit.from().toString(),
                text(credit.until()));
    }

    private static NamespaceUse namespace(
            io.gpusharing.timekeeper.budget.account.NamespaceUse use) {
        return new NamespaceUse(
                use.namespace(), use.used().microGpuSeconds(), use.used().minutes(), use.rate());
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
