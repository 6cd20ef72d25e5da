package io.gpusharing.timekeeper.leader;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
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
                .description("1 on the replica that keeps the ledger, announces and reclaims")
                .register(registry);
        return leadership;
    }

    @Bean
    LeaderElector leaderElector(
            @Value("${gpusharing.cluster.namespace:gpusharing-system}") String namespace,
            LeadershipProperties properties,
            Leadership leadership,
            Clock clock) {
        // As client-go: a request that hangs leaves time for another before the deadline.
        int timeout = Math.toIntExact(properties.renewDeadline().toMillis() / 2);
        var quick =
                new ConfigBuilder()
                        .withRequestTimeout(timeout)
                        .withConnectionTimeout(timeout)
                        .withRequestRetryBackoffLimit(0)
                        .build();
        return new LeaderElector(
                new KubernetesClientBuilder().withConfig(quick).build(),
                namespace,
                properties,
                leadership,
                TICKS,
                clock);
    }
}
