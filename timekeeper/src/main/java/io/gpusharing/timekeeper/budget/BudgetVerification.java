package io.gpusharing.timekeeper.budget;

import io.gpusharing.timekeeper.ledger.UsageRepository;
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
