/**
 * From events of pods to postings. {@link LedgerWriter} is the only thread that writes; {@link
 * PostingRound} is the order of its work, and all that a round uses belongs to that thread.
 *
 * <p>In a round, {@link PodTracker} turns events of pods into the begin and end of an allocation,
 * {@link DuePostings} posts what is due by the clock, {@link Repricing} follows changed budgets,
 * and {@link Settlement} corrects by measured use. Each of them fills a {@link PostingBuilder}, for
 * which {@link PodCharger} charges, and {@link OpenAllocations} commits the posting.
 */
@NullMarked
package io.gpusharing.timekeeper.ledger.posting;

import org.jspecify.annotations.NullMarked;
