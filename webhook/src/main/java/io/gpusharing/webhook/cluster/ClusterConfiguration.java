package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.web.UnreadableReport;
import io.gpusharing.webhook.settings.GpuSharingProperties;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Clock;
import java.util.Optional;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what watches the cluster. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({BudgetProperties.class, PlacementProperties.class})
class ClusterConfiguration {

    @Bean
    UnreadableObjects unreadableObjects(MeterRegistry metrics) {
        return UnreadableReport.objects(metrics);
    }

    @Bean
    ClusterWatch clusterWatch(
            KubernetesClient client,
            GpuSharingProperties installation,
            RequestGrammars grammars,
            BudgetProperties budgets,
            PlacementProperties placement,
            UnreadableObjects unreadable,
            Clock clock) {
        Optional<String> shared =
                budgets.unnamedNamespaces() == UnnamedNamespaces.Shared
                        ? Optional.of(budgets.sharedBudget())
                        : Optional.empty();
        return new ClusterWatch(
                client,
                installation.namespace(),
                grammars::reads,
                placement,
                shared,
                unreadable,
                clock);
    }

    @Bean
    MeterBinder clusterMetrics(ClusterWatch cluster) {
        return registry -> {
            Gauge.builder(
                            "gpusharing.injection.stopped",
                            cluster,
                            it -> it.now().stopped() == null ? 0 : 1)
                    .description(
                            "1 while an image is not injected somewhere because it cannot be pulled")
                    .register(registry);
            cluster.all()
                    .forEach(informer -> {
                        Gauge.builder(
                                        "gpusharing.watch.synced",
                                        informer,
                                        it -> it.hasSynced() ? 1 : 0)
                                .description("Whether everything there was has been read")
                                .tag("what", informer.plural())
                                .register(registry);
                        Gauge.builder(
                                        "gpusharing.watch.interrupted",
                                        informer,
                                        it -> it.isInterrupted() ? 1 : 0)
                                .description("Whether the last attempt to watch failed")
                                .tag("what", informer.plural())
                                .register(registry);
                    });
        };
    }
}
