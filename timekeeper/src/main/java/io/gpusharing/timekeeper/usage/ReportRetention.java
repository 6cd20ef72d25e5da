package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.alarm.LeaderTask;
import io.gpusharing.timekeeper.leadership.Leadership;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** Forgets reports that are too old to come again, once a minute. Their counters stay. */
final class ReportRetention extends LeaderTask {

    private static final Duration EVERY = Duration.ofMinutes(1);

    private final UsageReportRepository round;
    private final Duration remember;

    ReportRetention(
            UsageReportRepository round, Duration remember, Leadership leadership, Clock clock) {
        super("report-retention", leadership, clock);
        this.round = round;
        this.remember = remember;
    }

    @Override
    protected Instant work(Instant now) {
        round.forgetReportsBefore(now.minus(remember));
        return now.plus(EVERY);
    }
}
