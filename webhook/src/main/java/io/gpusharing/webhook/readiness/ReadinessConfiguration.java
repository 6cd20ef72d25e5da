package io.gpusharing.webhook.readiness;

import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.cluster.ClusterWatch;
import io.gpusharing.webhook.tls.Certificates;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what says when this replica may be asked. */
@Configuration(proxyBeanMethods = false)
class ReadinessConfiguration {

    @Bean
    AdmissionHealthIndicator admissionHealthIndicator(
            Admission admission, Certificates certificates, ClusterWatch cluster, Clock clock) {
        // Here and not later, so that a training run for an AOT cache sees reviews too.
        admission.rehearse(WarmUp.REVIEW, WarmUp.REHEARSALS);
        return new AdmissionHealthIndicator(certificates, cluster, clock);
    }

    @Bean
    ConnectionDrain connectionDrain(AdmissionProperties properties) {
        return new ConnectionDrain(properties.drain());
    }
}
