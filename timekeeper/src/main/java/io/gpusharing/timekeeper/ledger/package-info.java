/**
 * The ledger: which pod held GPUs from when to when, and what that cost. It is kept in PostgreSQL.
 * What was charged is never changed; a correction is a row of its own.
 *
 * <p>How it is written: {@link LedgerWriter} is the only thread that writes. It queues {@link
 * PodEvent} and hands them to {@link PostingRound}, where {@link PodTracker} turns events of pods
 * into the begin and end of a {@link PodAllocation}, {@link DuePostings} posts what is due by the
 * clock, {@link Repricing} follows changed budgets, and {@link Settlement} corrects by measured
 * use. Each of them fills a {@link PostingBuilder}, which {@link OpenAllocations} commits as one
 * {@link Posting} through the {@link Ledger}.
 *
 * <p>What it needs from others: {@link RateSource} and {@link LedgerListener} from budgets, {@link
 * Measurements} from usage reports.
 *
 * <p>Who reads it: {@link UsageRepository} and {@link StatementRepository} by budget, {@link
 * PodCharges} and {@link Estimates} by pod. {@link Corrections} are made by people. {@link
 * Partitions} keeps charges by month and drops old ones. {@link Verification} recomputes
 * everything.
 */
@NullMarked
package io.gpusharing.timekeeper.ledger;

import org.jspecify.annotations.NullMarked;
