package io.gpusharing.timekeeper.audit;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Verifies once an hour, on the leader, what was posted since the last time that nothing differed,
 * and says what it found by metric, log and API. A difference is found again until it is mended.
 */
@Component
class HourlyVerification extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(HourlyVerification.class);

    private static final Duration EVERY = Duration.ofHours(1);

    /** Whoever begins to lead has more urgent things to do. */
    private static final Duration AFTER_BEGIN = Duration.ofMinutes(5);

    private final Verification verification;
    private final VerificationRepository found;
    private final UnreadableObjects unreadable;
    private boolean begins;

    /** Not a number until the first verification has ended. */
    private volatile double differences = Double.NaN;

    private volatile double verifiedAt = Double.NaN;

    HourlyVerification(
            MeterRegistry registry,
            Verification verification,
            VerificationRepository found,
            UnreadableObjects unreadable,
            Leadership leadership,
            Clock clock) {
        super("verification", leadership, clock);
        this.verification = verification;
        this.found = found;
        this.unreadable = unreadable;
        Gauge.builder("gpusharing.ledger.differences", this, it -> it.differences)
                .description("What the last verification found; anything but 0 is an alert")
                .register(registry);
        Gauge.builder("gpusharing.ledger.verified.timestamp", this, it -> it.verifiedAt)
                .description("When the ledger was verified last; it should be within the last hour")
                .baseUnit("seconds")
                .register(registry);
    }

    @Override
    protected void takeOver() {
        begins = true;
    }

    @Override
    protected Instant work(Instant now) {
        if (begins) {
            begins = false;
            return now.plus(AFTER_BEGIN);
        }
        try {
            Verification.Report report =
                    found.lastSound().map(verification::runSince).orElseGet(verification::run);
            found.write(report.beside(UnreadableKind.of(unreadable.present())));
            differences = report.differences().size();
            verifiedAt = report.at().toEpochMilli() / 1e3;
            report.differences()
                    .forEach(it ->
                            log.atError()
                                    .addKeyValue("kind", it.kind())
                                    .addKeyValue("where", it.where())
                                    .addKeyValue("stored", it.stored())
                                    .addKeyValue("recomputed", it.recomputed())
                                    .log("the ledger is not sound"));
        } catch (DataAccessException e) {
            log.atWarn().addKeyValue("problem", e.getMessage()).log("cannot verify the ledger now");
        }
        return now.plus(EVERY);
    }
}
