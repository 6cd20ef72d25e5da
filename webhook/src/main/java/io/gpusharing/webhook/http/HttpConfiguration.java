package io.gpusharing.webhook.http;

import io.gpusharing.web.HeapParts;
import io.gpusharing.web.SharedConnections;
import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.AdmissionMetrics;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.admission.WebhookType;
import java.util.Arrays;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.RequestContextFilter;

/** Wires what takes reviews in. */
@Configuration(proxyBeanMethods = false)
class HttpConfiguration {

    @Bean
    HeapShares heapShares() {
        return HeapShares.of(HeapParts.ofThisProcess());
    }

    @Bean
    WebServerFactoryCustomizer<TomcatWebServerFactory> sharedConnections(HeapShares heap) {
        return SharedConnections.customizer(heap.connections());
    }

    @Bean
    ServletRegistrationBean<ErrorServlet> errorServlet() {
        return new ServletRegistrationBean<>(new ErrorServlet(), ErrorServlet.PATH);
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
            Admission admission,
            AdmissionMetrics metrics,
            AdmissionProperties properties,
            HeapShares heap) {
        return new ServletRegistrationBean<>(
                new AdmissionServlet(admission, metrics, properties, heap),
                Arrays.stream(WebhookType.values()).map(WebhookType::path).toArray(String[]::new));
    }
}
