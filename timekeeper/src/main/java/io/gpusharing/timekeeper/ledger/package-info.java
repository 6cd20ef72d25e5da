/**
 * The ledger: which pod held GPUs from when to when, and what that cost. It is kept in PostgreSQL.
 * What was charged is never changed; a correction is a row of its own.
 *
 * <p>How it is written: {@link Bookkeeper} is the only thread that writes. It queues {@link News}
 * and hands them to {@link Book}, where {@link PodTracker} turns news of pods into the begin and
 * end of a {@link PodStay}, {@link DuePostings} posts what is due by the clock, {@link Repricing}
 * follows changed budgets, and {@link Settlement} corrects by measured use. Each of them fills a
 * {@link Draft}, which {@link Stays} commits as one {@link Posting} through the {@link Ledger}.
 *
 * <p>What it needs from others: {@link Tariffs} from budgets, {@link Measurements} from usage
 * reports.
 *
 * <p>Who reads it: {@link UsageBook} and {@link StatementBook} by budget, {@link PodCharges} and
 * {@link Estimates} by pod. {@link Corrections} are made by people. {@link Retention} says how long
 * charges are kept, {@link Partitions} drops them. {@link Verification} recomputes everything.
 */
@NullMarked
package io.gpusharing.timekeeper.ledger;

import org.jspecify.annotations.NullMarked;
