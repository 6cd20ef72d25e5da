package io.gpusharing.webhook;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.ApiServerConnections;
import io.gpusharing.webhook.cluster.LeanObjects;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what every part of the webhook needs. */
@Configuration(proxyBeanMethods = false)
class WebhookConfiguration {

    /**
     * A broken watch is tried again after this long at first, and 32 times as long in the end: four
     * seconds. While it is broken a new budget is not known.
     */
    private static final int RECONNECT_MILLIS = 125;

    /** In a cluster the pod's service account, elsewhere what KUBECONFIG says. */
    @Bean
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder().withWatchReconnectInterval(RECONNECT_MILLIS).build())
                .withKubernetesSerialization(LeanObjects.serialization())
                .withHttpClientFactory(new ApiServerConnections())
                .build();
    }

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }
}
