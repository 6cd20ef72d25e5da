package io.gpusharing.webhook.http;

import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.AdmissionMetrics;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.admission.WebhookType;
import java.util.Arrays;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.RequestContextFilter;

/** Wires what takes reviews in. */
@Configuration(proxyBeanMethods = false)
class HttpConfiguration {

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
                Arrays.stream(WebhookType.values()).map(WebhookType::path).toArray(String[]::new));
    }
}
