package io.gpusharing.scheduler.picture;

import io.gpusharing.placement.PodAsk;
import io.gpusharing.sharing.ContainerAsk;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A pod with GPUs that the scheduler says it cannot place.
 *
 * @param since when it said so first
 * @param nominatedNode where the scheduler is making room for it already; null if nowhere
 * @param gated whether a scheduling gate keeps it back
 * @param preempts whether the scheduler may preempt others for it
 * @param ask what it needs of a node
 * @param workload what it belongs to: its controller's UID, or its own
 * @param constraints where it may run
 * @param unjudged what it asks for that reclaim cannot judge, in words; null if it judges all
 */
public record Waiter(
        PodRef pod,
        Instant since,
        @Nullable String nominatedNode,
        boolean gated,
        int priority,
        boolean preempts,
        PodAsk ask,
        String workload,
        SchedulingConstraints constraints,
        @Nullable String unjudged) {

    /** The same, had it waited since then. */
    public Waiter waitingSince(Instant then) {
        return with(then, ask);
    }

    /** The same, on this GPU of ours and on no other. */
    public Waiter only(String gpu) {
        return with(
                since,
                new PodAsk(ask.requests(), ask.gpus(), ContainerAsk.only(ask.containers(), gpu)));
    }

    private Waiter with(Instant then, PodAsk what) {
        return new Waiter(
                pod,
                then,
                nominatedNode,
                gated,
                priority,
                preempts,
                what,
                workload,
                constraints,
                unjudged);
    }
}
