package io.gpusharing.scheduler.picture.reading;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import io.gpusharing.scheduler.pods.Unjudged;
import io.gpusharing.sharing.Amounts;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/** Reads a pod that the scheduler says it cannot place. */
public final class WaiterReader {

    private final CapacityReader capacity;
    private final SchedulerReach reach;
    private final Interned interned = new Interned();

    public WaiterReader(CapacityReader capacity, SchedulerReach reach) {
        this.capacity = capacity;
        this.reach = reach;
    }

    /** Whether the scheduler has said that it cannot place it. */
    static boolean waits(Pod pod, PodFacts facts) {
        return facts.placement().node() == null
                && facts.placement().unschedulableSince() != null
                && pod.getMetadata().getDeletionTimestamp() == null;
    }

    /**
     * @param pod one that waits
     */
    Waiter read(Pod pod, PodFacts facts) {
        return read(pod, facts, Objects.requireNonNull(facts.placement().unschedulableSince()));
    }

    /**
     * The same of a pod that may not wait yet.
     *
     * @param since since when it is taken to wait
     */
    public Waiter read(Pod pod, PodFacts facts, Instant since) {
        PodSpec spec = pod.getSpec();
        String own = pod.getMetadata().getUid();
        PodAsk ask = capacity.ask(pod);
        SchedulingConstraints constraints = interned.one(SchedulingConstraints.of(spec));
        // All waiters are in memory at once, and each may say a megabyte and a half.
        boolean tooMuch =
                constraints.equals(SchedulingConstraints.TOO_MUCH)
                        || constraints.size()
                                        + SchedulingConstraints.size(
                                                ask.requests().byResource().keySet())
                                > SchedulingConstraints.MOST;
        return new Waiter(
                PodRef.of(facts),
                since,
                facts.placement().nominatedNode(),
                facts.placement().gated(),
                facts.placement().priority(),
                !"Never".equals(spec.getPreemptionPolicy()),
                tooMuch ? new PodAsk(Amounts.NONE, ask.gpus(), ask.containers()) : ask,
                Optional.ofNullable(facts.owner())
                        // Nobody has another namespace's waiters back off by naming their owner.
                        .map(owner -> facts.namespace() + "/" + owner.uid())
                        .orElse(own),
                tooMuch ? SchedulingConstraints.NONE : constraints,
                tooMuch
                        ? "it says more about its place than is read"
                        : Optional.ofNullable(capacity.unjudged(pod))
                                .or(() -> Optional.ofNullable(Unjudged.of(spec)))
                                .orElseGet(() -> Unjudged.of(message(pod))),
                reach.of(pod, ask));
    }

    /** What the scheduler says of it. */
    private static String message(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .filter(it -> it.getType().equals("PodScheduled"))
                .map(PodCondition::getMessage)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("");
    }
}
