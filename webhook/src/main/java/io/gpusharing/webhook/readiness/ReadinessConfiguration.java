package io.gpusharing.webhook.readiness;

import static io.gpusharing.kubernetes.ApiServerAccess.watching;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.ApiServerAccessTask;
import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.cluster.ClusterWatch;
import io.gpusharing.webhook.tls.Certificates;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what says when this replica may be asked. */
@Configuration(proxyBeanMethods = false)
class ReadinessConfiguration {

    /**
     * All replicas have one account. Were all of them unready at once, no pod with GPUs would be
     * admitted; by the budgets' lines as they were read last it is judged well for a while, which
     * is longer than the kubelet needs for the next token.
     */
    private static final Duration KEPT_IN_SERVICE = Duration.ofMinutes(15);

    @Bean
    AdmissionHealthIndicator admissionHealthIndicator(
            Admission admission, Certificates certificates, ClusterWatch cluster, Clock clock) {
        // Here and not later, so that a training run for an AOT cache sees reviews too.
        admission.rehearse(WarmUp.REVIEW, WarmUp.REHEARSALS);
        return new AdmissionHealthIndicator(certificates, cluster, clock);
    }

    @Bean
    ApiServerAccessTask apiServer(KubernetesClient client, MeterRegistry metrics, Clock clock) {
        return new ApiServerAccessTask(
                client,
                List.of(
                        watching("gpusharing.io", "gpubudgets"),
                        watching("scheduling.k8s.io", "priorityclasses")),
                KEPT_IN_SERVICE,
                metrics,
                clock);
    }

    @Bean
    ConnectionDrain connectionDrain(AdmissionProperties properties) {
        return new ConnectionDrain(properties.drain());
    }
}
