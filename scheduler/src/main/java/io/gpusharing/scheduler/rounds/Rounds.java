package io.gpusharing.scheduler.rounds;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Runs the rounds of each part of the scheduler, and says which part fails. A round that throws
 * ends no other one. Readiness does not depend on it: an object that makes every replica's rounds
 * fail would else leave kube-scheduler without an extender.
 */
@Component("rounds")
public final class Rounds implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(Rounds.class);

    /** The first failure may pass by itself. */
    private static final int UNHEALTHY = 2;

    private final MeterRegistry metrics;
    private final Map<String, String> failing = new ConcurrentHashMap<>();

    public Rounds(MeterRegistry metrics) {
        this.metrics = metrics;
    }

    /**
     * A part of the scheduler.
     *
     * @param name for metric and health, for instance {@code waking}
     */
    public Part part(String name) {
        return new Part(name);
    }

    @Override
    public Health health() {
        return failing.isEmpty()
                ? Health.up().build()
                : Health.down().withDetails(new TreeMap<>(failing)).build();
    }

    /** Whose rounds these are. Belongs to one thread at a time. */
    public final class Part {

        private final String name;
        private final Counter failed;
        private int failures;

        private Part(String name) {
            this.name = name;
            this.failed =
                    Counter.builder("gpusharing.rounds.failed")
                            .description("Rounds of a part of the service that threw")
                            .tag("part", name)
                            .register(metrics);
        }

        /** Does one round; never throws. */
        public void run(Runnable round) {
            try {
                round.run();
            } catch (RuntimeException e) {
                failed(e);
                return;
            }
            if (failures > 0) {
                failures = 0;
                failing.remove(name);
                log.atInfo().addKeyValue("part", name).log("rounds go well again");
            }
        }

        private void failed(RuntimeException problem) {
            failures++;
            failed.increment();
            if (failures == 1) {
                log.atWarn()
                        .setCause(problem)
                        .addKeyValue("part", name)
                        .log("a round has failed; trying again");
            }
            if (failures >= UNHEALTHY) {
                // Anybody may ask for it, and what was thrown may quote a tenant's pod.
                failing.put(
                        name,
                        "its last %d rounds have failed; the log says why".formatted(failures));
            }
        }
    }
}
