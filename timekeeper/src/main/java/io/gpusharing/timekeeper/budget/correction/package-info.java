/** {@code GpuCorrection} objects, and how they become entries of the ledger. */
@NullMarked
package io.gpusharing.timekeeper.budget.correction;

import org.jspecify.annotations.NullMarked;
