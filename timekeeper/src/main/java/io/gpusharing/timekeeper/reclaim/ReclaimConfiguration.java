package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@Configuration(proxyBeanMethods = false)
class ReclaimConfiguration {

    @Bean
    EvictionPlans evictionPlans(
            EvictionPlanRepository rows, PlatformTransactionManager transactions) {
        return new EvictionPlans(rows, new TransactionTemplate(transactions));
    }

    @Bean
    Reclaimer reclaimer(
            KubernetesClient client,
            RequestGrammars grammars,
            ClusterView view,
            Budgets budgets,
            EvictionPlans plans,
            ReclaimProperties properties,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        return new Reclaimer(
                view,
                budgets,
                new ClusterSnapshotReader(client, budgets, view, grammars, namespace, properties),
                plans,
                new Evictions(client, properties.maxGrace()),
                properties,
                new ReclaimMetrics(registry),
                leadership,
                clock);
    }
}
