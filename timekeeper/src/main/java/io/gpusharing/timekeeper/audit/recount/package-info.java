/**
 * A second opinion on every bill, from nothing but the API server's audit log. It shares no class
 * and no arithmetic with allocation and ledger, so that the same mistake would have to be made
 * twice.
 */
@NullMarked
package io.gpusharing.timekeeper.audit.recount;

import org.jspecify.annotations.NullMarked;
