/**
 * What pods really did with their share, beside the charge: {@link UsageReport} is what came in,
 * {@link MeasuredUse} and {@link WasteReport} are what people read.
 */
@NullMarked
package io.gpusharing.timekeeper.usage;

import org.jspecify.annotations.NullMarked;
