package io.gpusharing.timekeeper.tls;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.ServerIdentity;
import java.time.Clock;
import java.time.Duration;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The server's key and certificate. */
@Configuration(proxyBeanMethods = false)
class ServingBundle {

    static final String NAME = "timekeeper";

    /** Nobody trusts the first one: it serves until the API server has told the reporting CA. */
    @Bean
    static SslBundleRegistrar provisionalBundle(
            TlsProperties properties, ClusterProperties cluster, Clock clock) {
        var authority =
                CertificateAuthority.create("provisional", clock.instant(), Duration.ofDays(1));
        ServerIdentity provisional =
                authority.issue(
                        properties.names(cluster.namespace()), clock.instant(), Duration.ofDays(1));
        return registry -> registry.registerBundle(NAME, of(provisional));
    }

    static SslBundle of(ServerIdentity identity) {
        return SslBundle.of(
                SslStoreBundle.of(identity.keyStore(), null, null),
                SslBundleKey.of(null, ServerIdentity.ALIAS));
    }
}
