/**
 * How a usage report becomes measured use: {@link UsageReportController} receives it, {@link
 * ReportReader} parses it, {@link ReportAuthorizer} says whether its reporter may, {@link
 * GroupCommit}, of which {@link CommitLanes} runs several, gathers many for one transaction of
 * {@link UsageReportRepository}, where {@link CounterMerge} merges them into the counters that are
 * written.
 */
@NullMarked
package io.gpusharing.timekeeper.usage.intake;

import org.jspecify.annotations.NullMarked;
