package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.leadership.Leadership;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** How the ledger is doing, and whether it is sound: it is verified every hour. */
@Component
class LedgerMetrics {

    private static final Logger log = LoggerFactory.getLogger(LedgerMetrics.class);

    private final MeterRegistry registry;
    private final Verification verification;
    private final Leadership leadership;
    private final Timer commits;

    /** Not a number until the first verification has ended. */
    private volatile double differences = Double.NaN;

    private volatile double verifiedAt = Double.NaN;
    private final Clock clock;

    LedgerMetrics(
            MeterRegistry registry, Verification verification, Leadership leadership, Clock clock) {
        this.clock = clock;
        this.registry = registry;
        this.verification = verification;
        this.leadership = leadership;
        this.commits =
                Timer.builder("gpusharing.ledger.commit")
                        .description("From the event of a pod to its commit")
                        .publishPercentiles(0.5, 0.99)
                        .register(registry);
        Gauge.builder("gpusharing.ledger.differences", this, it -> it.differences)
                .description("What the last verification found; anything but 0 is an alert")
                .register(registry);
        Gauge.builder("gpusharing.ledger.verified.timestamp", this, it -> it.verifiedAt)
                .description("When the ledger was verified last; it should be within the last hour")
                .baseUnit("seconds")
                .register(registry);
    }

    /**
     * @param age of the oldest event that is not committed yet
     */
    void unposted(Supplier<Duration> age) {
        Gauge.builder("gpusharing.ledger.unposted", age, it -> it.get().toMillis() / 1_000.0)
                .baseUnit("seconds")
                .description(
                        "Age of the oldest event that waits for its commit; it should be near 0")
                .strongReference(true)
                .register(registry);
    }

    void committed(Duration sinceEvent) {
        commits.record(sinceEvent);
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
