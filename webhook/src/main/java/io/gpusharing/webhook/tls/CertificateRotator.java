package io.gpusharing.webhook.tls;

import io.gpusharing.web.ServingCertificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Keeps authority, caBundle and serving certificate in step. The order is what keeps reviews from
 * being refused while they change: first everybody trusts the new authority, then somebody serves a
 * certificate of it.
 */
public final class CertificateRotator implements Certificates, SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final AuthoritySecret secret;
    private final CaBundles bundles;
    private final ServingCertificate serving;
    private final Clock clock;
    private final Duration interval;
    private final Duration settling;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofVirtual().name("certificates").factory());
    private volatile @Nullable TrustedAuthority trusted;
    private volatile boolean bundleWritten;
    private @Nullable Instant trustedSince;
    private volatile @Nullable String problem = "not started";
    private volatile boolean running;

    /**
     * @param interval how often everything is checked again
     * @param settling how long API servers are given to observe a new authority
     */
    CertificateRotator(
            AuthoritySecret secret,
            CaBundles bundles,
            ServingCertificate serving,
            Clock clock,
            Duration interval,
            Duration settling) {
        this.secret = secret;
        this.bundles = bundles;
        this.serving = serving;
        this.clock = clock;
        this.interval = interval;
        this.settling = settling;
    }

    @Override
    public @Nullable String missing() {
        return problem;
    }

    @Override
    public @Nullable String trustedBundle() {
        TrustedAuthority authority = trusted;
        return authority == null ? null : authority.bundle();
    }

    @Override
    public String serverName() {
        return serving.name();
    }

    @Override
    public Instant expiresAt() {
        return serving.served().certificate().getNotAfter().toInstant();
    }

    @Override
    public void start() {
        running = true;
        thread.execute(this::step);
    }

    @Override
    public void stop() {
        running = false;
        thread.shutdownNow();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void step() {
        try {
            reconcile(clock.instant());
            became(bundleWritten ? null : "the webhook configuration does not exist yet");
        } catch (RuntimeException e) {
            became("certificates could not be checked: " + e.getMessage());
        }
        if (running) {
            Duration next = problem == null ? interval : RETRY;
            var _ = thread.schedule(this::step, next.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void became(@Nullable String now) {
        if (now != null && !now.equals(problem)) {
            log.atWarn().addKeyValue("problem", now).log("certificates not in step; trying again");
        }
        problem = now;
    }

    /** Checks everything once. */
    void reconcile(Instant now) {
        TrustedAuthority authority = secret.inForceAt(now);
        if (!authority.equals(trusted)) {
            // Nobody trusts the provisional certificate, so the first authority need not settle.
            trustedSince = trusted == null ? null : now;
            trusted = authority;
        }
        bundleWritten = bundles.write(authority.bundle());
        boolean settled = trustedSince == null || !now.isBefore(trustedSince.plus(settling));
        if (settled && serving.isDue(authority.current(), now)) {
            serving.renew(authority.current(), now);
            log.atInfo().addKeyValue("notAfter", expiresAt()).log("serving certificate renewed");
        }
    }
}
