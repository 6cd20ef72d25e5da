package io.gpusharing.webhook.standing;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.webhook.GpuSharingProperties;
import java.time.Clock;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what watches the cluster. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(BudgetProperties.class)
class StandingConfiguration {

    @Bean
    ClusterWatch clusterWatch(
            KubernetesClient client,
            GpuSharingProperties installation,
            RequestGrammars grammars,
            Clock clock) {
        return new ClusterWatch(client, installation.namespace(), grammars::reads, clock);
    }
}
