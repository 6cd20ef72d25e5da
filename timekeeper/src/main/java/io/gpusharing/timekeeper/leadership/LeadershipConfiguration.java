package io.gpusharing.timekeeper.leadership;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
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
    LeaseKeeper leaseKeeper(
            KubernetesClient client,
            ClusterProperties cluster,
            LeadershipProperties properties,
            Leadership leadership,
            Clock clock) {
        // A request that hangs shall leave time for others before the deadline.
        int timeout = Math.toIntExact(properties.renewDeadline().toMillis() / 3);
        RequestConfig quick =
                new RequestConfigBuilder()
                        .withRequestTimeout(timeout)
                        .withRequestRetryBackoffLimit(0)
                        .build();
        return new LeaseKeeper(
                client.newClient(quick).adapt(KubernetesClient.class),
                cluster,
                properties,
                leadership,
                TICKS,
                clock);
    }
}
