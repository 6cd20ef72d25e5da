package io.gpusharing.timekeeper.ledger.posting;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Supplier;
import org.springframework.stereotype.Component;

/** How the ledger keeps up, seen from the event of a pod to its commit. */
@Component
class LedgerMetrics {

    private final MeterRegistry registry;
    private final Timer commits;

    LedgerMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.commits =
                Timer.builder("gpusharing.ledger.commit")
                        .description("From the event of a pod to its commit")
                        .publishPercentiles(0.5, 0.99)
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
}
