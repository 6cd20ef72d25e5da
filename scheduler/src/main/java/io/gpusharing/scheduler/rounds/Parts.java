package io.gpusharing.scheduler.rounds;

import static java.util.stream.Collectors.toMap;

import io.gpusharing.kubernetes.Rounds;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * The parts of the scheduler that do their work in rounds: says which of them fail. Readiness does
 * not depend on it: an object that makes every replica's rounds fail would else leave
 * kube-scheduler without an extender.
 */
@Component("parts")
public final class Parts implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(Parts.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final MeterRegistry metrics;
    private final Clock clock;
    private final List<Rounds> parts = new CopyOnWriteArrayList<>();

    public Parts(MeterRegistry metrics, Clock clock) {
        this.metrics = metrics;
        this.clock = clock;
    }

    /**
     * Adds a part.
     *
     * @param name for log, metric and health, for instance {@code waking}
     */
    public Rounds part(String name) {
        var rounds = new Rounds(name, PAUSE, log, clock);
        parts.add(rounds);
        FunctionCounter.builder("gpusharing.rounds.failed", rounds, Rounds::failures)
                .tag("part", name)
                .description("Rounds of work that have failed")
                .register(metrics);
        return rounds;
    }

    @Override
    public Health health() {
        // Anybody may ask for it, and what was thrown may quote a tenant's pod.
        Map<String, String> failing =
                parts.stream()
                        .filter(Rounds::failing)
                        .collect(
                                toMap(
                                        Rounds::part,
                                        part -> "its last rounds have failed; the log says why"));
        return failing.isEmpty() ? Health.up().build() : Health.down().withDetails(failing).build();
    }
}
