package io.gpusharing.timekeeper.web;

import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.SharedConnections;
import java.time.Clock;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The server's key and certificate. */
@Configuration(proxyBeanMethods = false)
class TlsConfiguration {

    /** Name of the bundle in {@code server.ssl.bundle}. */
    private static final String BUNDLE = "timekeeper";

    /** Nobody trusts it: it serves until the reporting CA is known. */
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
    WebServerFactoryCustomizer<TomcatWebServerFactory> sharedConnections() {
        return SharedConnections.customizer(
                HeapShares.ofThisProcess().connections(), HeapShares.UNFINISHED_HEADS);
    }

    @Bean
    ServingCertificate certificate(
            SslBundleRegistry registry,
            ServerIdentity provisional,
            TlsProperties properties,
            @Value("${gpusharing.cluster.namespace}") String namespace) {
        return new ServingCertificate(
                registry,
                BUNDLE,
                provisional,
                ServingCertificate.names(
                        properties.service(), namespace, properties.subjectAlternativeNames()),
                properties.certificateValidity());
    }
}
