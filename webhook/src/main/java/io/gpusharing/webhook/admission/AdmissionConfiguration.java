package io.gpusharing.webhook.admission;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.webhook.budget.BudgetAdmission;
import io.gpusharing.webhook.cluster.ClusterWatch;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.events.RefusalEvents;
import io.gpusharing.webhook.injection.Sidecar;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.pod.ClaimProperties;
import io.gpusharing.webhook.pod.PodAdmission;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassCheck;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.review.ReviewReader;
import io.gpusharing.webhook.template.TemplateAdmission;
import io.gpusharing.webhook.template.WorkloadProperties;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what answers reviews. */
@Configuration(proxyBeanMethods = false)
// Not by a list, whose order Spring's AOT loses: two builds of the same sources would differ.
@ConfigurationPropertiesScan(
        basePackageClasses = {
            AdmissionProperties.class,
            ClaimProperties.class,
            MpsProperties.class,
            PolicyProperties.class,
            SidecarProperties.class,
            WorkloadProperties.class
        })
class AdmissionConfiguration {

    @Bean
    AdmissionMetrics admissionMetrics(MeterRegistry registry) {
        return new AdmissionMetrics(registry);
    }

    @Bean
    Admission admission(
            RequestGrammars grammars,
            ProviderAsk asks,
            PolicyProperties policy,
            MpsProperties mps,
            PriorityClassProperties classes,
            PlacementProperties placement,
            SidecarProperties sidecar,
            WorkloadProperties workloads,
            ClaimProperties claims,
            BudgetAdmission budgets,
            ClusterWatch cluster,
            AdmissionMetrics metrics,
            AdmissionProperties properties,
            RefusalEvents events) {
        Admission.Listener listener =
                properties.events()
                        ? DecisionListeners.all(
                                metrics, DecisionListeners.log(), DecisionListeners.events(events))
                        : DecisionListeners.all(metrics, DecisionListeners.log());
        return new Admission(
                new ReviewReader(grammars::reads, claims::isClaimed),
                new PodAdmission(
                        grammars, asks, policy, mps, classes, placement, new Sidecar(sidecar)),
                new TemplateAdmission(grammars, policy, mps, classes, workloads.templates()),
                budgets,
                cluster::now,
                listener);
    }

    @Bean
    PriorityClassCheck priorityClassCheck(PriorityClassProperties classes, ClusterWatch cluster) {
        return new PriorityClassCheck(classes, cluster);
    }

    @Bean
    RefusalEvents refusalEvents(KubernetesClient client, Clock clock) {
        return new RefusalEvents(client, clock);
    }
}
