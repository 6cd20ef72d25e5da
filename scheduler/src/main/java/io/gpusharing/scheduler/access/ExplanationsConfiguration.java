package io.gpusharing.scheduler.access;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.scheduler.explaining.PlacementQuestions;
import io.gpusharing.web.AccessReviews;
import jakarta.servlet.Filter;
import java.time.Clock;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.unit.DataSize;

/** The port where the timekeeper asks why pods wait. */
@Configuration(proxyBeanMethods = false)
class ExplanationsConfiguration {

    /** One account asks, and its token is asked about once in ten seconds. */
    private static final int TOKENS_PER_SECOND = 20;

    @Bean
    ExplanationsConnector explanationsConnector(
            ExplanationsProperties properties, SslBundles bundles) {
        return new ExplanationsConnector(properties.port(), AccessConfiguration.BUNDLE, bundles);
    }

    /**
     * Before {@link AccessFilter}, which knows nothing of this port. Who asks is reviewed apart, or
     * whoever looks at the extender with invented tokens would be in the timekeeper's way.
     */
    @Bean
    FilterRegistrationBean<Filter> explanationsFilter(
            ExplanationsConnector connector,
            AccessProperties access,
            KubernetesClient client,
            PlacementQuestions questions,
            Clock clock) {
        var filter =
                new FilterRegistrationBean<Filter>(
                        new ExplanationsFilter(
                                connector,
                                "system:serviceaccount:%s:%s"
                                        .formatted(access.namespace(), Names.TIMEKEEPER),
                                new AccessReviews(
                                        client,
                                        clock,
                                        TOKENS_PER_SECOND,
                                        Names.EXPLANATIONS_AUDIENCE),
                                questions,
                                DataSize.ofBytes(HeapShares.ofThisProcess().explanation()),
                                clock));
        filter.setOrder(Integer.MIN_VALUE);
        return filter;
    }
}
