package io.gpusharing.webhook;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what every part of the webhook needs. */
@Configuration(proxyBeanMethods = false)
class WebhookConfiguration {

    /** In a cluster the pod's service account, elsewhere what KUBECONFIG says. */
    @Bean
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder().build();
    }

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }
}
