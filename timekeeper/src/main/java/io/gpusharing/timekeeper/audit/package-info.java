/**
 * Whether the ledger is right. {@link Verification} recomputes balances from entries, {@link
 * ClosedPeriodCheck} each closed period, {@link Reconciliation} compares with the pods that are
 * there now; {@link VerifyCommand} does it from a shell, and by the audit log with {@code recount}.
 */
@NullMarked
package io.gpusharing.timekeeper.audit;

import org.jspecify.annotations.NullMarked;
