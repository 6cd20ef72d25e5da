package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.springframework.stereotype.Component;

/**
 * Forgets reports that are too old to come again, once a minute. Their counters are kept; the
 * processes of nodes that are silent are not.
 */
@Component
class ReportRetention extends LeaderTask {

    private static final Duration EVERY = Duration.ofMinutes(1);

    private final UsageReportRepository reports;
    private final RunningProcesses processes;
    private final Duration remember;

    ReportRetention(
            UsageReportRepository reports,
            RunningProcesses processes,
            UsageProperties properties,
            Leadership leadership,
            Clock clock) {
        super("report-retention", leadership, clock);
        this.reports = reports;
        this.processes = processes;
        this.remember = properties.remember();
    }

    @Override
    protected Instant work(Instant now) {
        reports.forgetReportsBefore(now.minus(remember));
        processes.forgetSilent(now);
        return now.plus(EVERY);
    }
}
