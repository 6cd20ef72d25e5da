package io.gpusharing.webhook.tls;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.tls.ServerIdentity;
import io.gpusharing.webhook.GpuSharingProperties;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Wires what keeps our certificates. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TlsProperties.class)
class TlsConfiguration {

    /** We make it ourselves. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "gpusharing.tls.mode", havingValue = "Own", matchIfMissing = true)
    static class Own {

        @Bean
        static ServerIdentity provisionalIdentity(Clock clock) {
            return ServingCertificate.provisional(clock.instant());
        }

        /** Static, or the registry would need this configuration, which needs the registry. */
        @Bean
        static SslBundleRegistrar provisionalBundle(ServerIdentity provisional) {
            return registry ->
                    registry.registerBundle(
                            ServingCertificate.BUNDLE, ServingCertificate.bundle(provisional));
        }

        @Bean
        CertificateKeeper certificateKeeper(
                KubernetesClient client,
                SslBundleRegistry registry,
                ServerIdentity provisional,
                GpuSharingProperties installation,
                TlsProperties properties,
                Clock clock) {
            return new CertificateKeeper(
                    new AuthoritySecret(
                            client, installation.namespace(), properties.authorityValidity()),
                    new CaBundles(client, properties.configuration()),
                    new ServingCertificate(
                            registry,
                            provisional,
                            ServingCertificate.names(
                                    properties.service(),
                                    installation.namespace(),
                                    properties.subjectAlternativeNames()),
                            properties.certificateValidity()),
                    clock,
                    properties.checkInterval(),
                    properties.settling());
        }
    }

    /** Somebody else makes it; the bundle is configured under spring.ssl.bundle.pem.admission. */
    @Bean
    @ConditionalOnProperty(name = "gpusharing.tls.mode", havingValue = "Mounted")
    MountedCertificate mountedCertificate(
            TlsProperties properties, GpuSharingProperties installation, Clock clock) {
        return new MountedCertificate(
                properties.directory(),
                ServingCertificate.names(properties.service(), installation.namespace(), List.of())
                        .getFirst(),
                clock);
    }

    @Bean
    ReportingAuthority reportingAuthority(
            KubernetesClient client, GpuSharingProperties installation, Clock clock) {
        return new ReportingAuthority(client, installation.namespace(), clock);
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
