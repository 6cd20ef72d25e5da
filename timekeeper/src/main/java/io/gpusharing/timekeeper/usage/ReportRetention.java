package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.alarm.Alarm;
import io.gpusharing.timekeeper.leadership.Leadership;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** Forgets reports that are too old to come again, once a minute. Their counters stay. */
final class ReportRetention extends Alarm {

    private static final Duration EVERY = Duration.ofMinutes(1);

    private final ReportBook book;
    private final Duration remember;

    ReportRetention(ReportBook book, Duration remember, Leadership leadership, Clock clock) {
        super("report-retention", leadership, clock);
        this.book = book;
        this.remember = remember;
    }

    @Override
    protected Instant work(Instant now) {
        book.forgetReportsBefore(now.minus(remember));
        return now.plus(EVERY);
    }
}
