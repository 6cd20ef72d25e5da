/**
 * The rows of the ledger: {@link Ledger} reads and commits, {@link PostingRows} writes a posting,
 * {@link UsageRepository} reads what budgets used, {@link Partitions} keeps charges by month and
 * drops old ones, {@link Retention} what else belongs to those.
 */
@NullMarked
package io.gpusharing.timekeeper.ledger.store;

import org.jspecify.annotations.NullMarked;
