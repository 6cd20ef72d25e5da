/**
 * GPU time on top of a budget: {@code GpuGrant} objects, and orders of grants over HTTPS that
 * become such objects.
 */
@NullMarked
package io.gpusharing.timekeeper.budget.grant;

import org.jspecify.annotations.NullMarked;
