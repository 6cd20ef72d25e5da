package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * Looks at the Lease before anything is done to pods. A replica that stood still for longer than
 * its lease lasted, as one does on a machine that hangs, goes on where it stood: its kube-scheduler
 * (as of 1.36) tries for ten seconds to get the lease back before it ends, and places pods
 * meanwhile, with an extender beside it that has not read yet what the new leader did. Both would
 * give the same GPUs away.
 *
 * <p>What was read is good for two seconds of a clock that goes on while a process stands still,
 * but not while a whole machine is frozen. The lease lasts fifteen, and a kube-scheduler that could
 * not renew it for ten gives up. Who stands still between this look and its binding is not noticed:
 * then the device plugin refuses the second pod.
 */
@Component
final class LeaseHolder implements SchedulerLease {

    private static final Duration GOOD_FOR = Duration.ofSeconds(2);

    private final LeaseProperties properties;
    private final Supplier<@Nullable String> holder;
    private final Clock clock;
    private Instant read = Instant.MIN;
    private Optional<String> whyNot = Optional.empty();

    @Autowired
    LeaseHolder(KubernetesClient client, LeaseProperties properties, Clock clock) {
        this(properties, reader(PromptClient.of(client), properties), clock);
    }

    /**
     * @param holder asks the API server; null if nobody leads
     */
    LeaseHolder(LeaseProperties properties, Supplier<@Nullable String> holder, Clock clock) {
        this.properties = properties;
        this.holder = holder;
        this.clock = clock;
    }

    private static Supplier<@Nullable String> reader(
            KubernetesClient client, LeaseProperties properties) {
        return () -> {
            Lease lease =
                    client.leases()
                            .inNamespace(properties.namespace())
                            .withName(properties.name())
                            .get();
            return lease == null || lease.getSpec() == null
                    ? null
                    : lease.getSpec().getHolderIdentity();
        };
    }

    @Override
    public synchronized Optional<String> whyNot() {
        if (properties.name().isEmpty()) {
            return Optional.empty();
        }
        Instant now = clock.instant();
        if (now.isBefore(read) || !now.isBefore(read.plus(GOOD_FOR))) {
            read = Instant.MIN;
            whyNot = ask();
            Instant then = clock.instant();
            // A yes is as old as the question, and who waits for a no need not ask again.
            if (whyNot.isPresent()) {
                read = then;
            } else if (now.plus(GOOD_FOR).isAfter(then)) {
                read = now;
            } else {
                return Optional.of("the lease was read too slowly");
            }
        }
        return whyNot;
    }

    private Optional<String> ask() {
        try {
            String identity = holder.get();
            // kube-scheduler's is HOST_UUID.
            if (identity == null) {
                return Optional.of("no scheduler leads");
            }
            return identity.startsWith(properties.host() + "_")
                            && identity.lastIndexOf('_') == properties.host().length()
                    ? Optional.empty()
                    : Optional.of("another scheduler leads: " + identity);
        } catch (KubernetesClientException e) {
            return Optional.of("the lease cannot be read: " + e.getMessage());
        }
    }
}
