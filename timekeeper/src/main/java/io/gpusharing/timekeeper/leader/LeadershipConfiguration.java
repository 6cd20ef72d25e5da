package io.gpusharing.timekeeper.leader;

import io.gpusharing.kubernetes.ApiServerClock;
import io.gpusharing.kubernetes.LeaderElector;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.web.LeaderElection;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.time.InstantSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LeadershipConfiguration {

    /** Only differences count; nobody sets it. */
    private static final InstantSource TICKS = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    @Bean
    Leadership leadership(MeterRegistry registry) {
        var leadership = new Leadership(TICKS);
        Gauge.builder("gpusharing.leading", leadership, it -> it.leads() ? 1 : 0)
                .description("1 on the replica that keeps the ledger and announces")
                .register(registry);
        return leadership;
    }

    @Bean
    LeaderElection leaderElection(
            @Value("${gpusharing.cluster.namespace}") String namespace,
            LeadershipProperties properties,
            Leadership leadership,
            MeterRegistry registry,
            ApiServerClock clock) {
        Gauge.builder("gpusharing.clock.ahead", clock, it -> it.ahead().toMillis() / 1_000.0)
                .baseUnit("seconds")
                .description(
                        "By how much our own clock is ahead of the API server's, at least; from 5 on"
                                + " we go by the API server's")
                .register(registry);
        return new LeaderElection(
                new LeaderElector(
                        new LeaseSettings(
                                namespace,
                                properties.lease(),
                                properties.identity(),
                                properties.leaseDuration(),
                                properties.renewDeadline(),
                                properties.retry()),
                        leadership,
                        TICKS,
                        clock));
    }
}
