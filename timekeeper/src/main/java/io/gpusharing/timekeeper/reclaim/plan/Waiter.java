package io.gpusharing.timekeeper.reclaim.plan;

import io.gpusharing.placement.GpuAsk;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pod with GPUs that the scheduler says it cannot place.
 *
 * @param since when it said so first
 * @param nominatedNode where the scheduler is making room for it already; null if nowhere
 * @param gated whether a scheduling gate keeps it back
 * @param preempts whether the scheduler may preempt others for it
 * @param requests what it needs, as the scheduler counts it
 * @param asks what its containers ask of physical GPUs, in the order in which they are placed
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
        Amounts requests,
        List<GpuAsk> asks,
        String workload,
        SchedulingConstraints constraints,
        @Nullable String unjudged) {}
