package io.gpusharing.timekeeper.tls;

import io.gpusharing.timekeeper.cluster.ClusterProperties;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.ServerIdentity;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.stereotype.Component;

/**
 * Keeps the serving certificate good: takes the place of the provisional one once the reporting CA
 * is known, and is renewed in time or when the CA is another. Servers take it up in place.
 */
@Component("servingCertificate")
class ServingCertificate extends LeaderTask implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(ServingCertificate.class);

    private final ReportingAuthority authority;
    private final SslBundleRegistry bundles;
    private final TlsProperties properties;
    private final String namespace;
    private volatile @Nullable ServerIdentity identity;

    ServingCertificate(
            ReportingAuthority authority,
            SslBundleRegistry bundles,
            TlsProperties properties,
            ClusterProperties cluster,
            Clock clock) {
        super("serving-certificate", clock);
        this.authority = authority;
        this.bundles = bundles;
        this.properties = properties;
        this.namespace = cluster.namespace();
    }

    @Override
    public Health health() {
        ServerIdentity present = identity;
        return present == null
                ? Health.down().withDetail("reason", "the reporting CA is not known yet").build()
                : Health.up().withDetail("expires", present.certificate().getNotAfter()).build();
    }

    @Override
    protected Instant work(Instant now) {
        renewIfNeeded(authority.read(now), now);
        return now.plus(properties.check());
    }

    private void renewIfNeeded(CertificateAuthority ca, Instant now) {
        ServerIdentity present = identity;
        boolean good =
                present != null
                        && sameKey(present.issuer(), ca.certificate())
                        && now.isBefore(present.renewAt());
        if (!good) {
            ServerIdentity issued =
                    ca.issue(properties.names(namespace), now, properties.certificateValidity());
            bundles.updateBundle(ServingBundle.NAME, ServingBundle.of(issued));
            identity = issued;
            log.atInfo()
                    .addKeyValue("expires", issued.certificate().getNotAfter().toInstant())
                    .log("serving with a new certificate");
        }
    }

    private static boolean sameKey(X509Certificate one, X509Certificate other) {
        return one.equals(other);
    }
}
