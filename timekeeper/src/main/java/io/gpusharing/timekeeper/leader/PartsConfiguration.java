package io.gpusharing.timekeeper.leader;

import static java.util.stream.Collectors.toMap;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Rounds;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Clock;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Shows of each part of the timekeeper whether its rounds fail.
 *
 * <p>None of it belongs to the readiness of the pod. A pod that cannot do one part of its work
 * answers questions and does the others; were it taken out of its Service, one object that a round
 * fails on would stop everything after all.
 */
@Configuration(proxyBeanMethods = false)
class PartsConfiguration {

    /** By part, at {@code /health/parts}. */
    @Bean
    CompositeHealthContributor partsHealthContributor(List<Part> parts) {
        return CompositeHealthContributor.fromMap(
                parts.stream()
                        .map(Part::rounds)
                        .collect(toMap(Rounds::part, PartsConfiguration::health)));
    }

    private static HealthIndicator health(Rounds rounds) {
        return () ->
                rounds.failing()
                        ? Health.down()
                                .withDetail(
                                        "reason", "its last rounds have failed; the log says why")
                                .build()
                        : Health.up().build();
    }

    @Bean
    MeterBinder failedRounds(List<Part> parts) {
        return registry ->
                parts.stream()
                        .map(Part::rounds)
                        .forEach(rounds ->
                                FunctionCounter.builder(
                                                "gpusharing.rounds.failed",
                                                rounds,
                                                Rounds::failures)
                                        .tag("part", rounds.part())
                                        .description("Rounds of work that have failed")
                                        .register(registry));
    }

    @Bean
    DefectEvents defectEvents(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            LeadershipProperties properties,
            List<Part> parts,
            Clock clock) {
        var events =
                new DefectEvents(
                        client,
                        new Events(client, Names.TIMEKEEPER),
                        namespace,
                        properties.identity(),
                        Thread::startVirtualThread,
                        clock);
        parts.stream().map(Part::rounds).forEach(events::follow);
        return events;
    }
}
