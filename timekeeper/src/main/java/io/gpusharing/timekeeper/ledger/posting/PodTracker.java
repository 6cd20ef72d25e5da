package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.kubernetes.Claimed.ClaimAllocation;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Deleted;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.PodChange;
import io.gpusharing.timekeeper.cluster.PodEvent.Resync;
import io.gpusharing.timekeeper.cluster.PodEvent.Unlabelled;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Unwatched;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns events of pods into allocations that begin and end. */
final class PodTracker {

    private static final Logger log = LoggerFactory.getLogger(PodTracker.class);

    private final OpenAllocations allocations;
    private final SharedClaims claims;
    private final VanishedPods vanished;
    private final PodDevices devices;

    /** Whether the pods have not been listed yet in our term. */
    private boolean unlisted = true;

    /** Position of the list before which the past is still being reported; null if it is not. */
    private @Nullable String past;

    PodTracker(
            OpenAllocations allocations,
            SharedClaims claims,
            VanishedPods vanished,
            PodDevices devices) {
        this.allocations = allocations;
        this.claims = claims;
        this.vanished = vanished;
        this.devices = devices;
    }

    /** Our term begins: what we know is old, and what happened meanwhile will be reported. */
    void takeOver() {
        unlisted = true;
        past = null;
        vanished.clear();
    }

    /** Whether the pods that there are now are known. */
    boolean listed() {
        return !unlisted;
    }

    /** Handles events of pods, as one posting unless they are very many. */
    void handle(List<PodEvent> batch) {
        remember(batch);
        PostingBuilder builder = allocations.builder();
        var gone = new ArrayList<UUID>();
        var found = new ArrayList<UUID>();
        var progress = new FeedProgress(allocations.reported(), past);
        for (PodEvent event : batch) {
            switch (event) {
                case Listed listed -> {
                    for (PodFacts pod : SharedClaims.inOrder(listed.pods())) {
                        observe(builder, pod, listed.at());
                        builder = allocations.relieved(builder);
                    }
                    vanished.listed(builder, listed);
                    unlisted = false;
                }
                case Resync resync -> {
                    for (PodFacts pod : SharedClaims.inOrder(resync.pods())) {
                        if (!isTheWatchs(builder.allocation(pod.uid()))) {
                            hold(
                                    builder,
                                    pod,
                                    AllocationInterval.of(pod, seconds(resync.at())),
                                    false);
                            found.add(pod.uid());
                        }
                        builder = allocations.relieved(builder);
                    }
                    Instant before = progress.swept();
                    vanished.swept(builder, resync, before == null ? allocations.swept() : before);
                }
                case Updated updated -> observe(builder, updated.pod(), updated.at());
                case Deleted deleted -> {
                    PodFacts pod = deleted.pod();
                    hold(
                            builder,
                            pod,
                            AllocationInterval.ofRemoved(pod, seconds(deleted.at())),
                            true);
                    gone.add(pod.uid());
                }
                case Unlabelled unlabelled -> {
                    PodFacts pod = unlabelled.pod();
                    hold(builder, pod, AllocationInterval.of(pod, seconds(unlabelled.at())), false);
                    found.add(pod.uid());
                }
                case Bookmark _ -> {}
            }
            progress.report(event);
            builder = allocations.relieved(builder);
        }
        allocations.commit(builder, progress.written(vanished.isAnyAwaited()));
        past = progress.past();
        vanished.committed(batch, progress.position(), progress.at());
        progress.unwatched().forEach(PodTracker::warn);
        allocations.release(gone);
        vanished.release(gone);
        // They are there, and the watch will never report their ends.
        vanished.release(found);
    }

    private static void warn(Unwatched span) {
        log.atWarn()
                .addKeyValue("since", span.since())
                .addKeyValue("until", span.until())
                .log(
                        "pods that were bound and removed meanwhile are not charged: the API server has forgotten them");
    }

    /** Allocations of pods that memory does not hold, because they are new or had ended before. */
    private void remember(List<PodEvent> batch) {
        Set<UUID> unknown =
                batch.stream()
                        .flatMap(PodTracker::pods)
                        .map(PodFacts::uid)
                        .filter(uid -> allocations.get(uid) == null)
                        .collect(Collectors.toSet());
        if (!unknown.isEmpty()) {
            allocations.remember(unknown);
        }
    }

    private static Stream<PodFacts> pods(PodEvent event) {
        return switch (event) {
            case Listed listed -> listed.pods().stream();
            case Resync resync -> resync.pods().stream();
            case PodChange change -> Stream.of(change.pod());
            case Bookmark bookmark -> Stream.empty();
        };
    }

    /**
     * Whether a sweep has nothing to say of an allocation, since its list may be older than what
     * the watch reported. Of a pod that the watch has lost it has: that is awaited, or was taken
     * for gone.
     */
    private boolean isTheWatchs(@Nullable PodAllocation allocation) {
        return allocation != null
                && allocation.metering().watched()
                && allocation.endBound() == null
                && !vanished.isAwaited(allocation.uid());
    }

    private void observe(PostingBuilder builder, PodFacts pod, Instant at) {
        hold(builder, pod, AllocationInterval.of(pod, seconds(at)), true);
    }

    /**
     * @param watched whether the watch reports it, not the sweep
     */
    private void hold(
            PostingBuilder builder, PodFacts pod, AllocationInterval interval, boolean watched) {
        PodAllocation known = builder.allocation(pod.uid());
        if (known != null && watched != known.metering().watched()) {
            builder.watch(known, watched);
        }
        switch (interval) {
            case AllocationInterval.None none -> {}
            case AllocationInterval.Open open -> {
                PodAllocation allocation = builder.allocation(pod.uid());
                if (allocation == null) {
                    // What it holds by claims is frozen here, so all of them are waited for.
                    if (pod.claimed().complete()) {
                        begin(builder, pod, open.begin(), Instant.MAX, watched);
                    }
                } else if (!allocation.open()) {
                    builder.reopen(allocation);
                    claims.holderChanged(builder, allocation.uid());
                } else {
                    devices.noteEstimate(pod, open.begin().at(), allocation);
                }
            }
            case AllocationInterval.Ended ended -> {
                PodAllocation allocation = builder.allocation(pod.uid());
                if (allocation == null) {
                    allocation = begin(builder, pod, ended.begin(), ended.to(), watched);
                }
                if (allocation != null && !isSettled(allocation, ended)) {
                    allocations.end(builder, allocation, ended);
                    claims.holderChanged(builder, allocation.uid());
                }
            }
        }
    }

    /**
     * Whether an end says nothing new. One that is stamped by a wrong clock does not if the end is
     * known for certain, or was estimated to be no later. An estimate never replaces an end that a
     * status said before: who may write a pod may later change what the estimate is made of.
     */
    private static boolean isSettled(PodAllocation allocation, AllocationInterval.Ended ended) {
        Instant until = allocation.until();
        if (until == null || !ended.estimated()) {
            return false;
        }
        return ended.bound() == null
                ? allocation.endBound() == null
                : !allocation.estimated() || !ended.to().isBefore(until);
    }

    /** Null for a pod that carries our label but asks for no GPU. */
    private @Nullable PodAllocation begin(
            PostingBuilder builder, PodFacts pod, Begin begin, Instant until, boolean watched) {
        String node = Objects.requireNonNull(pod.placement().node());
        PodDevices.Devices found = devices.of(pod, begin.at());
        if (found == null) {
            return null;
        }
        PodAllocation allocation =
                builder.begin(pod, node, begin, until, found.held(), found.weight(), watched);
        for (ClaimAllocation allocated : pod.claimed().shared()) {
            claims.join(builder, allocation, allocated, begin, found.weight());
        }
        devices.noteEstimate(pod, begin.at(), allocation);
        return allocation;
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
