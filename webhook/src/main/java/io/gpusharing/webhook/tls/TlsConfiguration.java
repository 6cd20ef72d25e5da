package io.gpusharing.webhook.tls;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.webhook.settings.GpuSharingProperties;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Wires what keeps our certificates. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TlsProperties.class)
class TlsConfiguration {

    /** Name of the bundle in {@code server.ssl.bundle}. */
    static final String BUNDLE = "admission";

    /** Made only where it is asked for: nobody needs it where the certificate is mounted. */
    @Bean
    @Lazy
    static ServerIdentity provisionalIdentity(Clock clock) {
        return ServingCertificate.provisional(clock.instant());
    }

    /**
     * Static, or the registry would need this configuration, which needs the registry. A mounted
     * certificate's bundle is configured under spring.ssl.bundle.pem.admission.
     */
    @Bean
    static SslBundleRegistrar provisionalBundle(
            TlsProperties properties, ObjectProvider<ServerIdentity> provisional) {
        return registry -> {
            if (properties.mode() == TlsProperties.Mode.Own) {
                registry.registerBundle(BUNDLE, ServingCertificate.bundle(provisional.getObject()));
            }
        };
    }

    // Chosen here and not by a condition: the image's conditions are judged when it is built.
    @Bean
    Certificates certificates(
            KubernetesClient client,
            SslBundleRegistry registry,
            ObjectProvider<ServerIdentity> provisional,
            GpuSharingProperties installation,
            TlsProperties properties,
            Clock clock) {
        List<String> names =
                ServingCertificate.names(
                        properties.service(),
                        installation.namespace(),
                        properties.subjectAlternativeNames());
        return switch (properties.mode()) {
            case Own ->
                    new CertificateRotator(
                            new AuthoritySecret(
                                    client,
                                    installation.namespace(),
                                    properties.authorityValidity()),
                            new CaBundles(client, properties.configuration()),
                            new ServingCertificate(
                                    registry,
                                    BUNDLE,
                                    provisional.getObject(),
                                    names,
                                    properties.certificateValidity()),
                            clock,
                            properties.checkInterval(),
                            properties.settling());
            case Mounted -> new MountedCertificate(properties.directory(), names.getFirst(), clock);
        };
    }

    @Bean
    MeterBinder certificateMetrics(Certificates certificates, Clock clock) {
        return registry ->
                Gauge.builder(
                                "gpusharing.certificate.expiry",
                                certificates,
                                it -> Duration.between(clock.instant(), it.expiresAt()).toSeconds())
                        .description("Seconds until the serving certificate expires")
                        .baseUnit("seconds")
                        .register(registry);
    }
}
