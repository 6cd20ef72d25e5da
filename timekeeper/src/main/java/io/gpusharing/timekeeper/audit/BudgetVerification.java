package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import org.springframework.context.annotation.Import;

/**
 * What it takes to recompute the periods of budgets where no timekeeper runs.
 *
 * <p>Deliberately without {@code @Configuration}: the timekeeper itself, which scans these
 * packages, must not find it.
 */
@Import({
    Closings.class,
    PeriodRepository.class,
    GrantRepository.class,
    TermsRepository.class,
    UsageRepository.class
})
public final class BudgetVerification {}
