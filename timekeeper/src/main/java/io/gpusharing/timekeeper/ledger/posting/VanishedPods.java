package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.web.LeaderTask.sooner;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Resync;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Open allocations whose pods are not there any more. If nobody watched when they vanished, they
 * are given some time: the API server may still report their ends. After that an end is estimated.
 */
final class VanishedPods {

    private final OpenAllocations allocations;
    private final SharedClaims claims;
    private final Duration grace;

    /** Pods whose end is waited for, and when they were last known to be there. */
    private final Map<UUID, Instant> awaited = new HashMap<>();

    private @Nullable Instant awaitedUntil;
    private @Nullable CatchUp catchUp;

    /**
     * @param grace how long the end of a pod that vanished is waited for
     */
    VanishedPods(OpenAllocations allocations, SharedClaims claims, Duration grace) {
        this.allocations = allocations;
        this.claims = claims;
        this.grace = grace;
    }

    /**
     * The API server is reporting what happened while nobody watched. Until it is done, pods that
     * ended long ago look as if they still ran, and nobody may draw conclusions.
     *
     * @param position of the list that was made at the beginning; the past lies before it
     * @param quietAt when it is over if nothing more is reported; before the first report of the
     *     past, silence means nothing
     * @param endsAt when it is over in any case
     */
    private record CatchUp(String position, Instant quietAt, Instant endsAt) {

        private static final Duration QUIET = Duration.ofSeconds(2);

        /** Positions that cannot be compared as numbers are reached by time. */
        boolean isReachedBy(String reported) {
            return FeedProgress.reaches(reported, position);
        }

        CatchUp reportedAt(Instant at) {
            return new CatchUp(position, at.plus(QUIET), endsAt);
        }

        Instant over() {
            return quietAt.isBefore(endsAt) ? quietAt : endsAt;
        }
    }

    /** Our term begins: what is known here is old. */
    void clear() {
        estimated();
        catchUp = null;
    }

    /** Whether everything that happened before we began has been reported. */
    boolean caughtUp(Instant now) {
        if (catchUp != null && !now.isBefore(catchUp.over())) {
            catchUp = null;
        }
        return catchUp == null;
    }

    /** When waiting is over, for a pod's end or for the past; null if nothing is waited for. */
    @Nullable Instant nextDue() {
        return sooner(awaitedUntil, catchUp == null ? null : catchUp.over());
    }

    /**
     * Events were committed.
     *
     * @param position up to which the API server has reported; null if that has not moved
     */
    void committed(List<PodEvent> batch, @Nullable String position, @Nullable Instant at) {
        for (PodEvent event : batch) {
            if (event instanceof Listed listed) {
                Instant end = listed.at().plus(grace);
                catchUp = listed.resuming() ? new CatchUp(listed.position(), end, end) : null;
            }
        }
        if (catchUp != null && position != null && at != null) {
            catchUp = catchUp.isReachedBy(position) ? null : catchUp.reportedAt(at);
        }
    }

    boolean isAwaited(UUID pod) {
        return awaited.containsKey(pod);
    }

    boolean isAnyAwaited() {
        return !awaited.isEmpty();
    }

    /** Nobody has to wait for the ends of these. */
    void release(Collection<UUID> pods) {
        pods.forEach(awaited::remove);
    }

    /** Open allocations whose pods are not in the list: their ends are waited for, or estimated. */
    void listed(PostingBuilder builder, Listed listed) {
        Map<UUID, Instant> missing =
                absent(
                                builder,
                                listed.pods(),
                                listed.unread(),
                                allocation -> allocation.metering().watched())
                        .collect(
                                Collectors.toMap(
                                        PodAllocation::uid, allocation -> allocations.seen()));
        if (listed.resuming()) {
            awaited.putAll(missing);
            awaitedUntil = listed.at().plus(grace);
        } else {
            missing.putAll(awaited);
            missing.forEach((uid, seen) -> end(builder, uid, seen, listed.at()));
            awaited.clear();
        }
    }

    /**
     * Nobody reports the end of a pod that only the sweep finds: it lies between the last sweep
     * that found it and this.
     *
     * @param before the sweep before; null if none is known
     */
    void swept(PostingBuilder builder, Resync sweep, @Nullable Instant before) {
        absent(
                        builder,
                        sweep.pods(),
                        sweep.unread(),
                        allocation -> !allocation.metering().watched())
                .toList()
                .forEach(it ->
                        end(
                                builder,
                                it.uid(),
                                before == null ? it.postedUntil() : before,
                                sweep.at()));
    }

    private Stream<PodAllocation> absent(
            PostingBuilder builder,
            List<PodFacts> pods,
            Set<UUID> unread,
            Predicate<PodAllocation> which) {
        Set<UUID> present = pods.stream().map(PodFacts::uid).collect(Collectors.toSet());
        // A pod that began in an earlier list of the same batch may have gone since, too.
        return Stream.concat(allocations.all().map(builder::now), builder.begun().stream())
                .filter(PodAllocation::open)
                .filter(allocation -> !allocation.isShared())
                .filter(which)
                .filter(allocation -> !present.contains(allocation.uid()))
                // It is there, and is charged on by what it was last seen to hold.
                .filter(allocation -> !unread.contains(allocation.uid()));
    }

    private void end(PostingBuilder builder, UUID uid, Instant lastSeen, Instant noticed) {
        Instant bound = noticed.truncatedTo(ChronoUnit.SECONDS);
        PodAllocation allocation = builder.allocation(uid);
        if (allocation != null && allocation.open()) {
            // Our clock may have been ahead when the pod was last seen.
            Instant last = lastSeen.isBefore(bound) ? lastSeen : bound;
            allocations.end(builder, allocation, new Ended(allocation.from(), last, true, bound));
            claims.holderChanged(builder, uid);
        }
    }

    /** Whether the ends of pods that vanished have been waited for long enough. */
    boolean isWaitOver(Instant now) {
        return awaitedUntil != null && now.isAfter(awaitedUntil);
    }

    /** Estimates the ends that were waited for. */
    void estimate(PostingBuilder builder, Instant now) {
        awaited.forEach((uid, seen) -> end(builder, uid, seen, now));
    }

    /** The estimates are committed. */
    void estimated() {
        awaited.clear();
        awaitedUntil = null;
    }
}
