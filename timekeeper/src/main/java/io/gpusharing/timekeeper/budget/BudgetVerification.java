package io.gpusharing.timekeeper.budget;

import io.gpusharing.timekeeper.ledger.UsageBook;
import org.springframework.context.annotation.Import;

/**
 * What it takes to recompute the periods of budgets where no timekeeper runs.
 *
 * <p>Deliberately without {@code @Configuration}: the timekeeper itself, which scans these
 * packages, must not find it.
 */
@Import({Closings.class, Periods.class, GrantBook.class, TermsBook.class, UsageBook.class})
public final class BudgetVerification {}
