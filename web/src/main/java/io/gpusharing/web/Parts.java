package io.gpusharing.web;

import static java.util.stream.Collectors.toMap;

import io.gpusharing.kubernetes.Rounds;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The parts of a service that do their work in rounds: says which of them fail. As the bean {@code
 * parts} it is the health at {@code /health/parts}.
 *
 * <p>Readiness does not depend on it. A pod that cannot do one part of its work answers questions
 * and does the others; were it taken out of its Service, one object that a round fails on would
 * stop everything after all.
 */
public final class Parts implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(Parts.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final MeterRegistry metrics;
    private final Consumer<Rounds> follower;
    private final Clock clock;
    private final List<Rounds> parts = new CopyOnWriteArrayList<>();

    /**
     * @param follower is given each part, to say elsewhere when that begins to fail
     */
    public Parts(MeterRegistry metrics, Consumer<Rounds> follower, Clock clock) {
        this.metrics = metrics;
        this.follower = follower;
        this.clock = clock;
    }

    /**
     * Makes the rounds of a part, and adds them.
     *
     * @param name for log, metric and health, for instance {@code waking}
     */
    public Rounds part(String name) {
        var rounds = new Rounds(name, PAUSE, log, clock);
        add(rounds);
        return rounds;
    }

    /** Adds a part. */
    public void add(Rounds rounds) {
        parts.add(rounds);
        FunctionCounter.builder("gpusharing.rounds.failed", rounds, Rounds::failures)
                .tag("part", rounds.part())
                .description("Rounds of work that have failed")
                .register(metrics);
        follower.accept(rounds);
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
