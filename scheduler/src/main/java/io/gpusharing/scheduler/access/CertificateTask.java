package io.gpusharing.scheduler.access;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.PublishedAuthority;
import io.gpusharing.web.ServingCertificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Keeps certificates good: the one that is served, which takes the place of the provisional one and
 * is renewed in time, and those by which clients are known. Nobody is sent to us before.
 */
@Component("access")
class CertificateTask implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(CertificateTask.class);
    private static final Duration CHECK = Duration.ofMinutes(1);

    private final AccessProperties properties;
    private final ClientAuthorities clients;
    private final PublishedAuthority authority;
    private final ObjectProvider<ServingCertificate> certificate;
    private final Clock clock;
    private Instant next = Instant.MIN;
    private volatile boolean ready;
    private volatile @Nullable String problem = "certificates have not been read yet";

    CertificateTask(
            AccessProperties properties,
            ClientAuthorities clients,
            PublishedAuthority authority,
            ObjectProvider<ServingCertificate> certificate,
            Clock clock) {
        this.properties = properties;
        this.clients = clients;
        this.authority = authority;
        this.certificate = certificate;
        this.clock = clock;
    }

    /** Once a minute; each second while something is missing. */
    @Scheduled(fixedDelay = 1_000)
    void check() {
        Instant now = clock.instant();
        if (!properties.enabled() || now.isBefore(next)) {
            return;
        }
        try {
            clients.read();
            serve(now);
            ready = true;
            problem = null;
            next = now.plus(CHECK);
        } catch (RuntimeException e) {
            became("certificates cannot be read: " + e.getMessage());
        }
    }

    private void serve(Instant now) {
        CertificateAuthority ca = authority.read(now);
        ServingCertificate serving = certificate.getObject();
        if (serving.isDue(ca, now)) {
            serving.renew(ca, now);
            log.atInfo()
                    .addKeyValue(
                            "expires", serving.served().certificate().getNotAfter().toInstant())
                    .log("serving with a new certificate");
        }
    }

    private void became(String now) {
        if (!now.equals(problem)) {
            log.atWarn().addKeyValue("problem", now).log("certificates not in step; trying again");
        }
        problem = now;
    }

    /** What was good once is good for days. */
    @Override
    public Health health() {
        String why = problem;
        return !properties.enabled() || ready
                ? Health.up().build()
                : Health.down().withDetail("reason", String.valueOf(why)).build();
    }
}
