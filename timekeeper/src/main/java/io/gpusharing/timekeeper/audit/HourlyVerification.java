package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.leader.Leadership;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Verifies the ledger once an hour, on the leader, and says what it found by metric and log. */
@Component
class HourlyVerification {

    private static final Logger log = LoggerFactory.getLogger(HourlyVerification.class);

    private final Verification verification;
    private final Leadership leadership;
    private final Clock clock;

    /** Not a number until the first verification has ended. */
    private volatile double differences = Double.NaN;

    private volatile double verifiedAt = Double.NaN;

    HourlyVerification(
            MeterRegistry registry, Verification verification, Leadership leadership, Clock clock) {
        this.verification = verification;
        this.leadership = leadership;
        this.clock = clock;
        Gauge.builder("gpusharing.ledger.differences", this, it -> it.differences)
                .description("What the last verification found; anything but 0 is an alert")
                .register(registry);
        Gauge.builder("gpusharing.ledger.verified.timestamp", this, it -> it.verifiedAt)
                .description("When the ledger was verified last; it should be within the last hour")
                .baseUnit("seconds")
                .register(registry);
    }

    @Scheduled(initialDelayString = "PT5M", fixedDelayString = "PT1H")
    void verify() {
        if (!leadership.leads()) {
            return;
        }
        try {
            Verification.Report report = verification.run();
            differences = report.differences().size();
            verifiedAt = clock.millis() / 1e3;
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
    }
}
