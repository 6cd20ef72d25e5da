package io.gpusharing.webhook.admission;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.webhook.events.RefusalEvents;
import io.gpusharing.webhook.injection.Sidecar;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.review.ReviewReader;
import io.gpusharing.webhook.standing.ClusterWatch;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.Arrays;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.RequestContextFilter;

/** Wires what answers reviews. */
@Configuration(proxyBeanMethods = false)
// Not by a list, whose order Spring's AOT loses: two builds of the same sources would differ.
@ConfigurationPropertiesScan(
        basePackageClasses = {AdmissionProperties.class, SidecarProperties.class})
class AdmissionConfiguration {

    @Bean
    AdmissionMetrics admissionMetrics(MeterRegistry registry) {
        return new AdmissionMetrics(registry);
    }

    @Bean
    Admission admission(
            RequestGrammars grammars,
            PolicyProperties policy,
            ClassProperties classes,
            SidecarProperties sidecar,
            WorkloadProperties workloads,
            ClaimProperties claims,
            ClusterWatch cluster,
            AdmissionMetrics metrics,
            AdmissionProperties properties,
            RefusalEvents events) {
        Admission.Listener listener =
                properties.events()
                        ? Listeners.all(metrics, Listeners.logging(), Listeners.telling(events))
                        : Listeners.all(metrics, Listeners.logging());
        return new Admission(
                new ReviewReader(grammars::reads, claims::isClaimed),
                new PodAdmission(grammars, policy, classes, new Sidecar(sidecar)),
                new TemplateAdmission(grammars, policy, classes, workloads.templates()),
                cluster::now,
                listener);
    }

    @Bean
    ClassWatch classWatch(ClassProperties classes, ClusterWatch cluster) {
        return new ClassWatch(classes, cluster);
    }

    @Bean
    RefusalEvents refusalEvents(KubernetesClient client, Clock clock) {
        return new RefusalEvents(client, clock);
    }

    /** Switched off: it would keep each review where nobody looks for it. */
    @Bean
    FilterRegistrationBean<RequestContextFilter> requestContextFilter() {
        var registration = new FilterRegistrationBean<>(new RequestContextFilter());
        registration.setEnabled(false);
        return registration;
    }

    @Bean
    ServletRegistrationBean<AdmissionServlet> admissionServlet(
            Admission admission, AdmissionMetrics metrics, AdmissionProperties properties) {
        return new ServletRegistrationBean<>(
                new AdmissionServlet(admission, metrics, properties),
                Arrays.stream(Question.values()).map(Question::path).toArray(String[]::new));
    }
}
