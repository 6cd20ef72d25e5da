/** What was charged, for ever: open stays, charges, corrections, in PostgreSQL. */
@NullMarked
package io.gpusharing.timekeeper.ledger;

import org.jspecify.annotations.NullMarked;
