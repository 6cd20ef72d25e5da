package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.client.KubernetesClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class ReclaimConfiguration {

    @Bean
    Evictions evictions(KubernetesClient client, ReclaimProperties properties) {
        return new Evictions(client, properties.maxGrace());
    }
}
