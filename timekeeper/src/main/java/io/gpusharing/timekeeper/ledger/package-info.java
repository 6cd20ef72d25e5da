/**
 * The ledger: which pod held GPUs from when to when, and what that cost. What was charged is never
 * changed; a correction is an entry of its own.
 *
 * <p>A {@code PodEvent} comes in; a {@link PodAllocation} is what a pod holds while its share, its
 * payer and its weight stay the same; a {@link Posting} is what one transaction writes, an {@link
 * Entry} one charge in it. Here are these values, and what the ledger needs from others: {@link
 * RateSource} and {@link LedgerListener} from budgets, {@link Measurements} from usage reports.
 * {@code posting} makes the postings, {@code store} keeps them in PostgreSQL, {@code correction}
 * the rules by which they are corrected.
 */
@NullMarked
package io.gpusharing.timekeeper.ledger;

import org.jspecify.annotations.NullMarked;
