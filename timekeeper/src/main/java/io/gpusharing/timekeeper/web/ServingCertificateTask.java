package io.gpusharing.timekeeper.web;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.LeaderTask;
import io.gpusharing.web.ServingCertificate;
import java.time.Clock;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Keeps the serving certificate good: takes the place of the provisional one once the reporting CA
 * is known, and is renewed in time or when the CA is another. Servers take it up in place.
 */
@Component("servingCertificate")
class ServingCertificateTask extends LeaderTask implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(ServingCertificateTask.class);

    private final ReportingAuthority authority;
    private final ServingCertificate certificate;
    private final TlsProperties properties;
    private volatile boolean issued;

    ServingCertificateTask(
            ReportingAuthority authority,
            ServingCertificate certificate,
            TlsProperties properties,
            Clock clock) {
        super("serving-certificate", clock);
        this.authority = authority;
        this.certificate = certificate;
        this.properties = properties;
    }

    @Override
    public Health health() {
        return issued
                ? Health.up().withDetail("expires", expires()).build()
                : Health.down().withDetail("reason", "the reporting CA is not known yet").build();
    }

    @Override
    protected Instant work(Instant now) {
        CertificateAuthority ca = authority.read(now);
        if (certificate.isDue(ca, now)) {
            certificate.renew(ca, now);
            issued = true;
            log.atInfo().addKeyValue("expires", expires()).log("serving with a new certificate");
        }
        return now.plus(properties.check());
    }

    private Instant expires() {
        return certificate.served().certificate().getNotAfter().toInstant();
    }
}
