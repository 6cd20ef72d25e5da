package io.gpusharing.scheduler.access;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.ClientCertificateRequest;
import io.gpusharing.web.PublishedAuthority;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.SharedConnections;
import jakarta.servlet.Filter;
import java.time.Clock;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The serving certificate, and what is needed only where the extender is reached over the network.
 * Settings choose that, and no conditions: those of the image are judged when it is built.
 */
@Configuration(proxyBeanMethods = false)
class AccessConfiguration {

    /** What is served on each port of TLS; the name is in {@code server.ssl.bundle}. */
    static final String BUNDLE = "extender";

    /** A few people look; each token is asked about once in ten seconds. */
    private static final int TOKENS_PER_SECOND = 20;

    /** Nobody trusts it: it serves until an authority is known. */
    @Bean
    static ServerIdentity provisionalIdentity(Clock clock) {
        return ServingCertificate.provisional(clock.instant());
    }

    /** Static, or the registry would need this configuration, which needs the registry. */
    @Bean
    static SslBundleRegistrar provisionalBundle(ServerIdentity provisional) {
        return registry -> registry.registerBundle(BUNDLE, ServingCertificate.bundle(provisional));
    }

    @Bean
    ServingCertificate servingCertificate(
            SslBundleRegistry registry,
            ServerIdentity provisional,
            AccessProperties properties,
            ExplanationsProperties explanations) {
        String namespace = properties.namespace();
        return new ServingCertificate(
                registry,
                BUNDLE,
                provisional,
                ServingCertificate.names(
                        properties.service(),
                        namespace,
                        Stream.concat(
                                        ServingCertificate.names(
                                                explanations.service(), namespace, List.of())
                                                .stream(),
                                        properties.subjectAlternativeNames().stream())
                                .toList()),
                properties.certificateValidity());
    }

    @Bean
    WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> clientCertificates(
            AccessProperties properties, SslBundles bundles) {
        return properties.enabled() ? new ClientCertificateRequest(BUNDLE, bundles) : _ -> {};
    }

    @Bean
    WebServerFactoryCustomizer<TomcatWebServerFactory> sharedConnections() {
        return SharedConnections.customizer(HeapShares.ofThisProcess().connections());
    }

    @Bean
    PublishedAuthority servingAuthority(KubernetesClient client, AccessProperties properties) {
        return new PublishedAuthority(
                client,
                properties.namespace(),
                properties.authority(),
                "gpusharing scheduler",
                properties.authorityValidity());
    }

    @Bean
    AccessReviews accessReviews(KubernetesClient client, Clock clock) {
        return new AccessReviews(client, clock, TOKENS_PER_SECOND);
    }

    @Bean
    FilterRegistrationBean<Filter> accessFilter(
            AccessProperties properties,
            ClientAuthorities authorities,
            AccessReviews reviews,
            Clock clock) {
        var filter =
                new FilterRegistrationBean<Filter>(
                        new AccessFilter(
                                properties.clients(),
                                authorities,
                                reviews,
                                HeapShares.ofThisProcess(),
                                clock));
        filter.setEnabled(properties.enabled());
        // After that of the explanations' port.
        filter.setOrder(Integer.MIN_VALUE + 1);
        return filter;
    }
}
