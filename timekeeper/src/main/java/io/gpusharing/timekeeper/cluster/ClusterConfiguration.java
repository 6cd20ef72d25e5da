package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.placement.ProviderAsk;
import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.allocation.PodReader;
import io.gpusharing.timekeeper.allocation.claim.ClaimedGpus;
import java.time.Clock;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The client finds its cluster by itself: KUBECONFIG, or the pod's own service account. */
@Configuration(proxyBeanMethods = false)
class ClusterConfiguration {

    @Bean(destroyMethod = "close")
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(LeanObjects.serialization())
                .build();
    }

    @Bean
    RequestGrammars requestGrammars(RequestProperties properties) {
        return RequestGrammars.of(
                properties.grammars(),
                new GrammarSettings(
                        properties.customResources().entrySet().stream()
                                .map(it -> CustomResource.of(it.getKey(), it.getValue()))
                                .toList(),
                        properties.metagpuUnits()));
    }

    @Bean
    ProviderAsk providerAsk(RequestProperties properties) {
        return new ProviderAsk(MetagpuGrammar.units(properties.metagpuUnits()));
    }

    @Bean
    PodReader podReader(RequestGrammars grammars, ClaimedGpus claims) {
        return new PodReader(grammars::reads, claims::of);
    }

    /**
     * Whether the cluster's pods are known. Once they are, an API server that is away changes
     * nothing.
     */
    @Bean
    HealthIndicator podsKnown(ClusterView view) {
        return () ->
                view.listed()
                        ? Health.up().build()
                        : Health.down()
                                .withDetail("reason", "pods have not been listed yet")
                                .build();
    }

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }
}
