/**
 * A second opinion on every bill, from nothing but the API server's audit log. It shares no class
 * and no arithmetic with the services, so that the same mistake would have to be made twice.
 */
@NullMarked
package io.gpusharing.recount;

import org.jspecify.annotations.NullMarked;
