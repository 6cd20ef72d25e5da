package io.gpusharing.timekeeper.cluster;

import static io.gpusharing.kubernetes.ApiServerAccess.watching;

import com.github.benmanes.caffeine.cache.Interner;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.ApiServerClock;
import io.gpusharing.kubernetes.ApiServerConnections;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.timekeeper.allocation.claim.ClaimedGpus;
import io.gpusharing.web.ApiServerAccessTask;
import io.gpusharing.web.UnreadableReport;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The client finds its cluster by itself: KUBECONFIG, or the pod's own service account. */
@Configuration(proxyBeanMethods = false)
class ClusterConfiguration {

    /** The API server sends a bookmark every minute or so. */
    private static final Duration SILENCE = Duration.ofMinutes(5);

    @Bean(destroyMethod = "close")
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(LeanObjects.serialization())
                .withHttpClientFactory(new ApiServerConnections())
                .build();
    }

    @Bean
    UnreadableObjects unreadableObjects(MeterRegistry metrics) {
        return UnreadableReport.objects(metrics);
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
        Interner<PodRequest> requests = Interner.newWeakInterner();
        Interner<String> names = Interner.newWeakInterner();
        return new PodReader(grammars::reads, claims::of, requests::intern, names::intern);
    }

    /**
     * Whether the cluster's pods are known. Once they are, an API server that is away changes
     * nothing for some minutes; then what is known of them is old.
     */
    @Bean
    HealthIndicator podsKnown(ClusterView view, ClusterWatch watch) {
        return () -> {
            Duration silence = watch.silence();
            return !view.listed()
                    ? down("pods have not been listed yet")
                    : silence.compareTo(SILENCE) > 0
                            ? down(
                                    "the API server's watch has said nothing for %d s"
                                            .formatted(silence.toSeconds()))
                            : Health.up().build();
        };
    }

    /**
     * Who is refused can ask the API server of nobody who they are, and so take no report and
     * answer no question: another replica may.
     */
    @Bean
    ApiServerAccessTask apiServer(KubernetesClient client, MeterRegistry metrics, Clock clock) {
        return new ApiServerAccessTask(
                client,
                List.of(
                        watching("", "pods"),
                        watching("", "nodes"),
                        watching("gpusharing.io", "gpubudgets")),
                Duration.ZERO,
                metrics,
                clock);
    }

    private static Health down(String reason) {
        return Health.down().withDetail("reason", reason).build();
    }

    @Bean
    ApiServerClock clock() {
        return new ApiServerClock(Clock.systemUTC());
    }
}
