/**
 * What pods really did with their share, beside the charge. A {@link UsageReport} becomes measured
 * use in {@code intake}, by {@code UsageReportRepository.writeMeasuredUse}; {@link MeasuredUse} and
 * {@link WasteReport} are what people read, {@link AgentMeasurements} is what charges go by.
 */
@NullMarked
package io.gpusharing.timekeeper.usage;

import org.jspecify.annotations.NullMarked;
