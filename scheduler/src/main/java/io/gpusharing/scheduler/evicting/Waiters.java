package io.gpusharing.scheduler.evicting;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.scheduler.cluster.PodLookup;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks at the pods for which room is made: whether they wait still, and what became of them. */
final class Waiters {

    private final PodLookup pods;
    private final PlanStore store;

    Waiters(PodLookup pods, PlanStore store) {
        this.pods = pods;
        this.store = store;
    }

    private Optional<Pod> find(EvictionPlan plan) {
        Waiter waiter = plan.waiter().orElseThrow();
        return pods.find(waiter.namespace(), waiter.name(), waiter.uid());
    }

    /** Whether the room of a plan would still be used. */
    boolean waits(EvictionPlan plan) {
        return plan.waiter().isEmpty()
                || find(plan)
                        .filter(PodLookup::isLiving)
                        .filter(pod -> pod.getSpec().getNodeName() == null)
                        .isPresent();
    }

    /**
     * Writes down what became of a plan's waiter, once it is known.
     *
     * @return whether that is written
     */
    boolean settle(EvictionPlan plan, Instant now) {
        Optional<Pod> waiter = find(plan);
        Optional<Outcome> outcome =
                outcome(
                        plan.object().getSpec().node(),
                        requireNonNull(plan.settlesAt()),
                        waiter.isPresent(),
                        waiter.map(it -> it.getSpec().getNodeName()).orElse(null),
                        now);
        return outcome.isPresent() && store.settled(plan, outcome.get());
    }

    /**
     * The outcome as it is known at an instant; empty while it is open.
     *
     * @param node where room was made
     * @param settlesAt by when the waiter should be bound
     * @param present whether the waiter is still there
     * @param boundTo its node; null while it is not bound
     */
    static Optional<Outcome> outcome(
            String node,
            Instant settlesAt,
            boolean present,
            @Nullable String boundTo,
            Instant now) {
        if (boundTo != null) {
            return Optional.of(
                    boundTo.equals(node)
                            ? seen(true, "the waiter was bound to " + node, now)
                            : seen(
                                    false,
                                    "the waiter was bound to %s, room was made on %s"
                                            .formatted(boundTo, node),
                                    now));
        }
        if (!present) {
            return Optional.of(seen(false, "the waiter went before it was bound", now));
        }
        return now.isBefore(settlesAt)
                ? Optional.empty()
                : Optional.of(seen(false, "the waiter still waited at " + settlesAt, now));
    }

    private static Outcome seen(boolean helped, String detail, Instant now) {
        return new Outcome(helped, detail, now.truncatedTo(ChronoUnit.MICROS).toString());
    }
}
