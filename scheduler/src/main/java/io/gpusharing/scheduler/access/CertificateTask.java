package io.gpusharing.scheduler.access;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.PublishedAuthority;
import io.gpusharing.web.ServingCertificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Keeps certificates good: the one that is served, which takes the place of the provisional one and
 * is renewed in time, and those by which clients of the extender are known where it is reached over
 * the network. There nobody is sent to us before. What cannot be read keeps nothing else from being
 * read.
 */
@Component("access")
class CertificateTask implements HealthIndicator {

    private static final Logger log = LoggerFactory.getLogger(CertificateTask.class);
    private static final Duration CHECK = Duration.ofMinutes(1);

    private final PublishedAuthority authority;
    private final ServingCertificate certificate;
    private final Clock clock;
    private final List<Upkeep> upkeeps;
    private volatile Instant servedUntil = Instant.MAX;

    CertificateTask(
            AccessProperties properties,
            ClientAuthorities clients,
            PublishedAuthority authority,
            ServingCertificate certificate,
            Clock clock) {
        this.authority = authority;
        this.certificate = certificate;
        this.clock = clock;
        var serving = new Upkeep("the serving certificate", this::serve);
        this.upkeeps =
                properties.enabled()
                        ? List.of(
                                serving,
                                new Upkeep(
                                        "the cluster's client CA", now -> clients.readClusters()),
                                new Upkeep("the site's client CA", now -> clients.readSites()))
                        : List.of(serving);
    }

    /** Once a minute; each second what is missing. */
    @Scheduled(fixedDelay = 1_000)
    void check() {
        Instant now = clock.instant();
        upkeeps.forEach(upkeep -> upkeep.check(now));
    }

    private void serve(Instant now) {
        CertificateAuthority ca = authority.read(now);
        if (certificate.isDue(ca, now)) {
            certificate.renew(ca, now);
            servedUntil = certificate.served().certificate().getNotAfter().toInstant();
            log.atInfo().addKeyValue("expires", servedUntil).log("serving with a new certificate");
        }
    }

    /** What was good once is good for days, and the certificate that is served until its end. */
    @Override
    public Health health() {
        Stream<String> ending =
                clock.instant().isBefore(servedUntil.minus(CHECK))
                        ? Stream.empty()
                        : Stream.of("the serving certificate ends at " + servedUntil);
        String why =
                Stream.concat(
                                upkeeps.stream()
                                        .filter(upkeep -> !upkeep.done)
                                        .map(upkeep -> String.valueOf(upkeep.problem)),
                                ending)
                        .collect(Collectors.joining("; "));
        return why.isEmpty()
                ? Health.up().build()
                : Health.down().withDetail("reason", why).build();
    }

    /** One thing to be kept good. */
    private static final class Upkeep {

        private final String what;
        private final Consumer<Instant> work;
        private Instant next = Instant.MIN;
        private volatile boolean done;
        private volatile @Nullable String problem;

        Upkeep(String what, Consumer<Instant> work) {
            this.what = what;
            this.work = work;
            this.problem = what + " has not been read yet";
        }

        void check(Instant now) {
            if (now.isBefore(next)) {
                return;
            }
            try {
                work.accept(now);
                done = true;
                problem = null;
                next = now.plus(CHECK);
            } catch (RuntimeException e) {
                became("%s cannot be kept good: %s".formatted(what, e.getMessage()));
            }
        }

        private void became(String now) {
            if (!now.equals(problem)) {
                log.atWarn()
                        .addKeyValue("problem", now)
                        .log("certificates not in step; trying again");
            }
            problem = now;
        }
    }
}
