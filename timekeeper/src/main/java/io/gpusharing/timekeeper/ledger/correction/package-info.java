/** Corrections of what a pod was charged, and what they may be: entries, each with an author. */
@NullMarked
package io.gpusharing.timekeeper.ledger.correction;

import org.jspecify.annotations.NullMarked;
