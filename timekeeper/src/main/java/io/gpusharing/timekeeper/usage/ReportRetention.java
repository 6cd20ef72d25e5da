package io.gpusharing.timekeeper.usage;

import java.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;

/** Forgets reports that are too old to come again, once a minute. Their counters stay. */
final class ReportRetention implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(ReportRetention.class);
    private static final Duration EVERY = Duration.ofMinutes(1);

    private final ReportBook book;
    private final Duration remember;
    private final Clock clock;
    private final Thread thread = Thread.ofVirtual().name("report-retention").unstarted(this::run);
    private volatile boolean running;

    ReportRetention(ReportBook book, Duration remember, Clock clock) {
        this.book = book;
        this.remember = remember;
        this.clock = clock;
    }

    private void run() {
        try {
            while (running) {
                Thread.sleep(EVERY);
                forget();
            }
        } catch (InterruptedException e) {
            log.debug("told to stop");
        }
    }

    private void forget() {
        try {
            book.forgetReportsBefore(clock.instant().minus(remember));
        } catch (DataAccessException e) {
            // The intake says that the database is away.
            log.atDebug().setCause(e).log("old reports are kept for another minute");
        }
    }

    @Override
    public void start() {
        running = true;
        thread.start();
    }

    @Override
    public void stop() {
        running = false;
        thread.interrupt();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
