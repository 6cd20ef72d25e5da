package io.gpusharing.kubernetes;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Election.Claim;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the lease when it may, renews it, and gives it back when it has to stop, so that another
 * replica need not wait.
 *
 * <p>Not fabric8's own elector: that compares the holder's clock with ours, checks its deadline
 * only between two requests, and ends for good once it has lost.
 */
public final class LeaderElector implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LeaderElector.class);

    private final KubernetesClient client;
    private final LeaseSettings settings;
    private final Leadership leadership;
    private final Election election;
    private final InstantSource ticks;
    private final ApiServerClock clock;
    private final Rounds rounds;
    // Of the platform: virtual threads wait for each other's turns when all of them are busy.
    private final Thread thread =
            Thread.ofPlatform().daemon().name("leadership").unstarted(this::run);
    private String holder = "";

    /** As we wrote it last, so that a renewal is one request; null when we have to look. */
    private @Nullable Lease written;

    private volatile boolean running;

    /**
     * Asks by a client of its own, so that a renewal never waits behind other requests.
     *
     * @param ticks a clock that nobody sets
     */
    public LeaderElector(
            LeaseSettings settings,
            Leadership leadership,
            InstantSource ticks,
            ApiServerClock clock) {
        this(client(settings.renewDeadline()), settings, leadership, ticks, clock);
    }

    LeaderElector(
            KubernetesClient client,
            LeaseSettings settings,
            Leadership leadership,
            InstantSource ticks,
            ApiServerClock clock) {
        this.client = client;
        this.settings = settings;
        this.leadership = leadership;
        this.election = new Election(settings.identity());
        this.ticks = ticks;
        this.clock = clock;
        this.rounds = new Rounds("leadership", settings.retry(), log, clock);
        leadership.listen(
                () -> log.atInfo().addKeyValue("identity", settings.identity()).log("leading"),
                () -> log.atInfo().log("no longer leading"));
    }

    private static KubernetesClient client(Duration renewDeadline) {
        // As client-go: a request that hangs leaves time for another before the deadline.
        int timeout = Math.toIntExact(renewDeadline.toMillis() / 2);
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder()
                                .withRequestTimeout(timeout)
                                .withConnectionTimeout(timeout)
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .withHttpClientFactory(new ApiServerConnections(renewDeadline.dividedBy(2)))
                .build();
    }

    /** How its tries to take or renew the lease go. */
    public Rounds rounds() {
        return rounds;
    }

    /** One try to take or renew the lease. */
    void attempt() {
        // Before the request: the time until the answer arrives does not extend the term.
        Instant asked = ticks.instant();
        try {
            if (claim(asked)) {
                hold(asked.plus(settings.renewDeadline()));
            } else {
                leadership.lose();
            }
            if (clock.isPutBack()) {
                rounds.failed(
                        new IllegalStateException(
                                "Our clock is %d s ahead of the API server's, by which we go; set the clock of this node, or the API server's if that one is wrong"
                                        .formatted(clock.ahead().toSeconds())));
            } else {
                rounds.succeeded();
            }
        } catch (RuntimeException | Error e) {
            if (e instanceof KubernetesClientException refusal
                    && refusal.getCode() == HTTP_CONFLICT) {
                log.debug("another one was faster");
            } else {
                // Without the pause: a lease that is renewed too late is lost.
                rounds.failed(e);
            }
        }
        if (!leadership.leads()) {
            // Listeners that were not called yet, because nobody answered, are called now.
            leadership.lose();
        }
    }

    /** Whether it is ours now. */
    private boolean claim(Instant asked) {
        Instant before = clock.before();
        Lease known = written;
        // Until the answer says that it was written again.
        written = null;
        if (known != null && renew(known, before)) {
            return true;
        }
        Lease lease = find();
        if (lease == null) {
            written = clock.wrote(client.resource(ours(new Lease(), 0)).create(), before);
            return true;
        }
        clock.read(lease, before);
        Claim present = read(lease);
        if (!election.isOpen(present, asked)) {
            logHolder(present.holder());
            return false;
        }
        boolean held = present.holder().equals(settings.identity());
        // Its resource version goes with it: of two who write at once one is refused.
        written = clock.wrote(client.resource(ours(lease, held ? 0 : 1)).update(), before);
        holder = settings.identity();
        return true;
    }

    /** Whether nobody has written or deleted it meanwhile. */
    private boolean renew(Lease known, Instant before) {
        try {
            written = clock.wrote(client.resource(ours(known, 0)).update(), before);
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HTTP_CONFLICT || e.getCode() == HTTP_NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private void logHolder(String other) {
        if (!other.equals(holder)) {
            holder = other;
            log.atInfo().addKeyValue("leader", other).log("another replica leads");
        }
    }

    private @Nullable Lease find() {
        return client.leases().inNamespace(settings.namespace()).withName(settings.name()).get();
    }

    private static Claim read(Lease lease) {
        LeaseSpec spec = lease.getSpec() == null ? new LeaseSpec() : lease.getSpec();
        return new Claim(
                Objects.requireNonNullElse(spec.getHolderIdentity(), ""),
                String.valueOf(lease.getMetadata().getResourceVersion()) + spec.getRenewTime(),
                Duration.ofSeconds(Objects.requireNonNullElse(spec.getLeaseDurationSeconds(), 0)));
    }

    private Lease ours(Lease lease, int transitions) {
        LeaseSpec before = lease.getSpec() == null ? new LeaseSpec() : lease.getSpec();
        ZonedDateTime now = now();
        boolean acquired = transitions > 0 || before.getAcquireTime() == null;
        return new LeaseBuilder(lease)
                .editOrNewMetadata()
                .withNamespace(settings.namespace())
                .withName(settings.name())
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(settings.identity())
                .withLeaseDurationSeconds(Math.toIntExact(settings.duration().toSeconds()))
                .withAcquireTime(acquired ? now : before.getAcquireTime())
                .withRenewTime(now)
                .withLeaseTransitions(
                        Objects.requireNonNullElse(before.getLeaseTransitions(), 0) + transitions)
                .endSpec()
                .build();
    }

    private ZonedDateTime now() {
        return clock.instant().truncatedTo(ChronoUnit.MICROS).atZone(ZoneOffset.UTC);
    }

    /** Who cannot begin leaves it to others. */
    private void hold(Instant end) {
        try {
            leadership.hold(end);
        } catch (RuntimeException | Error e) {
            written = null;
            release();
            throw e;
        }
    }

    private void release() {
        try {
            Lease lease = find();
            if (lease != null && read(lease).holder().equals(settings.identity())) {
                lease.getSpec().setHolderIdentity("");
                lease.getSpec().setLeaseDurationSeconds(1);
                lease.getSpec().setRenewTime(now());
                client.resource(lease).update();
            }
        } catch (KubernetesClientException e) {
            log.atInfo()
                    .addKeyValue("problem", e.getMessage())
                    .log("could not give the lease back; it runs out by itself");
        }
    }

    private void run() {
        try {
            Instant last = ticks.instant();
            while (running) {
                // After an answer that took long, at once.
                Thread.sleep(settings.retry().minus(Duration.between(last, ticks.instant())));
                last = ticks.instant();
                attempt();
            }
        } catch (InterruptedException e) {
            log.debug("interrupted");
        }
    }

    /** The first attempt is awaited, so that who starts after us knows whether it leads. */
    public void start() {
        attempt();
        running = true;
        thread.start();
    }

    /** Stops, and gives the lease back if it is ours. */
    public void stop() {
        running = false;
        thread.interrupt();
        try {
            thread.join(settings.renewDeadline());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean led = leadership.leads();
        leadership.lose();
        if (led) {
            release();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
