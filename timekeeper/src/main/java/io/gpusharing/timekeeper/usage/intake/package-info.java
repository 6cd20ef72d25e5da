/**
 * How usage reports come in: {@link UsageController} receives, {@link ReportReader} parses, {@link
 * ReportAuthorizer} says whether the reporter may, {@link Intake} judges, {@link GroupCommit}
 * writes many in one transaction of {@link UsageReportRepository}.
 */
@NullMarked
package io.gpusharing.timekeeper.usage.intake;

import org.jspecify.annotations.NullMarked;
