/**
 * A second opinion on every bill: what each pod owes, computed from nothing but the API server's
 * audit log.
 *
 * <p>Deliberately naive and deliberately a stranger to the timekeeper: no class, no table and no
 * arithmetic is shared, so that the same mistake would have to be made twice.
 */
@NullMarked
package io.gpusharing.e2e.recount;

import org.jspecify.annotations.NullMarked;
