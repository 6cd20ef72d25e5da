package io.gpusharing.webhook;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.request.RequestGrammars;
import java.time.Clock;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what every part of the webhook needs. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(GpuSharingProperties.class)
class WebhookConfiguration {

    /** In a cluster the pod's service account, elsewhere what KUBECONFIG says. */
    @Bean
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder().build();
    }

    @Bean
    RequestGrammars requestGrammars(GpuSharingProperties properties) {
        return new RequestGrammars(KnownGrammars.named(properties));
    }

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }
}
