/** The command {@code verify}: whether the ledger is sound, and equal to the audit log. */
@NullMarked
package io.gpusharing.timekeeper.verify;

import org.jspecify.annotations.NullMarked;
