package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.toSet;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.PodRef;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is done for one waiting pod: pods are evicted for it, or not, and why not. */
public sealed interface Decision {

    /** The pod it is about. */
    Waiter waiter();

    /**
     * Evict these; then the waiter fits. No smaller part of them would do.
     *
     * @param node where it then fits
     * @param gpus what it will hold of GPUs there that our device plugin hands out; nothing where
     *     it hands out none
     * @param victims whom, in the order in which they were chosen
     * @param considered every pod that held a GPU that would have been enough, and why it was
     *     spared
     */
    record Evict(
            Waiter waiter,
            String node,
            List<GpuHold> gpus,
            List<Victim> victims,
            List<Candidate> considered)
            implements Decision {

        /** Where others hand out GPUs. */
        public Evict(Waiter waiter, String node, List<Victim> victims, List<Candidate> considered) {
            this(waiter, node, List.of(), victims, considered);
        }

        /** UIDs of the victims. */
        public Set<String> victimUids() {
            return victims.stream().map(victim -> victim.pod().uid()).collect(toSet());
        }
    }

    /**
     * Evict nobody.
     *
     * @param node the node that the reason is about; null if it is about none
     */
    record Leave(
            Waiter waiter,
            Reason reason,
            String detail,
            @Nullable String node,
            List<Candidate> considered)
            implements Decision {

        /** The same for one that waits for the same. */
        Leave of(Waiter other) {
            return new Leave(other, reason, detail, node, considered);
        }
    }

    /**
     * A pod that is to go.
     *
     * @param budget its budget, over now
     * @param why why this one, in words
     * @param cost micro-GPU-seconds that it has used up in this run, which may be lost
     * @param refusedSince since when the API server has refused to evict it; set if it is to be
     *     deleted when it is refused once more, else null
     * @param lowered as in {@link io.gpusharing.scheduler.picture.ClusterSnapshot.Holder#lowered}
     */
    record Victim(
            PodRef pod,
            String node,
            String budget,
            String gang,
            String why,
            long cost,
            Duration grace,
            @Nullable Instant refusedSince,
            boolean lowered) {}

    /**
     * A pod that was considered.
     *
     * @param budget its budget; null if it has none
     * @param spared why it was spared; null if it is a victim, or could be one
     */
    record Candidate(PodRef pod, String node, @Nullable String budget, @Nullable Spared spared) {

        /** Whether it could have gone as well as a victim. */
        public boolean couldGo() {
            return spared == null || spared.equals(Spared.NOT_NEEDED);
        }

        /** Why it was spared, in words; null if it was not. */
        public @Nullable String why() {
            return spared == null ? null : spared.words();
        }
    }

    /**
     * Why a pod stays.
     *
     * @param kind in words that are the same for many pods: without names and instants
     * @param words the same with them
     */
    record Spared(String kind, String words) {

        static final Spared NOT_NEEDED = because("it could go, but the waiter fits without that");

        /** A reason that names nothing. */
        static Spared because(String words) {
            return new Spared(words, words);
        }
    }

    /** Why nobody is evicted. */
    enum Reason {
        /** Everything, or everything for this budget, was paused by an administrator. */
        PAUSED,
        /** A scheduling gate keeps the pod back; nobody is asked to place it yet. */
        GATED,
        /** The scheduler is already making room for it. */
        NOMINATED,
        /** It has not waited long enough. */
        TOO_EARLY,
        /** Its own budget is used up: it may only have what is free. */
        WAITER_OVER_BUDGET,
        /**
         * It asks for something that reclaim cannot judge, so nobody knows whether it would fit.
         */
        CANNOT_JUDGE,
        /** Room was made for it, and it has time to take it. */
        SETTLING,
        /** Room was made for it before and it did not take it. */
        BACKING_OFF,
        /** No node that admits it and that its scheduler can use is large enough. */
        NO_NODE,
        /** It fits already: what keeps it from being placed is nothing that an eviction mends. */
        FITS,
        /** It fits as soon as pods that are ending have ended. */
        FREEING,
        /** The scheduler can make room by preempting pods of lower priority. */
        LEFT_TO_SCHEDULER,
        /** Nobody may be evicted. */
        NOBODY,
        /** It would not fit even if everybody who may be evicted were gone. */
        WOULD_NOT_FIT,
        /** It would fit without somebody whom a PodDisruptionBudget keeps. */
        KEPT,
        /** What would be freed cannot be kept for it. */
        NOT_KEPT,
        /** The API server does not take the {@code GpuEviction}, or there are too many of them. */
        NOT_WRITTEN,
        /** Too much was evicted within the last minute, or would have to be at once. */
        RATE_LIMITED,
        /** Too many wait to plan for all of them in one round; it is considered in a later one. */
        NEXT_ROUND
    }
}
