/** Corrections that people make of what a pod was charged: one request, one row, one author. */
@NullMarked
package io.gpusharing.timekeeper.ledger.correction;

import org.jspecify.annotations.NullMarked;
