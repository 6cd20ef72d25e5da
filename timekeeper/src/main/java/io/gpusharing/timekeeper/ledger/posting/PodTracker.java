package io.gpusharing.timekeeper.ledger.posting;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.allocation.Claimed.ClaimAllocation;
import io.gpusharing.timekeeper.allocation.HeldShare;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodEvent;
import io.gpusharing.timekeeper.ledger.PodEvent.Bookmark;
import io.gpusharing.timekeeper.ledger.PodEvent.Deleted;
import io.gpusharing.timekeeper.ledger.PodEvent.Listed;
import io.gpusharing.timekeeper.ledger.PodEvent.Resync;
import io.gpusharing.timekeeper.ledger.PodEvent.Unlabelled;
import io.gpusharing.timekeeper.ledger.PodEvent.Updated;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns events of pods into allocations that begin and end. Pods that vanished while nobody watched
 * are given some time: the API server may still tell their ends. After that an end is estimated.
 *
 * <p>Belongs to the ledger writer's thread.
 */
final class PodTracker {

    private final OpenAllocations allocations;
    private final Ledger ledger;
    private final ClusterView view;
    private final RequestGrammars grammars;
    private final ModelWeights weights;
    private final Duration grace;

    /** Pods that vanished while nobody watched, and when they were last known to be there. */
    private final Map<UUID, Instant> awaited = new HashMap<>();

    private @Nullable Instant awaitedUntil;
    private @Nullable CatchUp catchUp;

    /** Whether the pods have not been listed yet in our term. */
    private boolean unlisted = true;

    /**
     * @param grace how long the end of a pod that vanished is waited for
     */
    PodTracker(
            OpenAllocations allocations,
            Ledger ledger,
            ClusterView view,
            RequestGrammars grammars,
            ModelWeights weights,
            Duration grace) {
        this.allocations = allocations;
        this.ledger = ledger;
        this.view = view;
        this.grammars = grammars;
        this.weights = weights;
        this.grace = grace;
    }

    /** Our term begins: what we know is old, and what happened meanwhile will be told. */
    void takeOver() {
        unlisted = true;
        awaited.clear();
        awaitedUntil = null;
        catchUp = null;
    }

    /** Whether the pods that there are now are known. */
    boolean listed() {
        return !unlisted;
    }

    /** Whether everything that happened before we began has been told. */
    boolean caughtUp(Instant now) {
        if (catchUp != null && !now.isBefore(catchUp.over())) {
            catchUp = null;
        }
        return catchUp == null;
    }

    /** When waiting is over, for a pod's end or for the past; null if nothing is waited for. */
    @Nullable Instant nextDue() {
        return Stream.of(awaitedUntil, catchUp == null ? null : catchUp.over())
                .filter(Objects::nonNull)
                .min(Instant::compareTo)
                .orElse(null);
    }

    /** Handles events of pods, as one posting unless they are very many. */
    void handle(List<PodEvent> batch) {
        remember(batch);
        PostingBuilder builder = allocations.builder();
        var gone = new ArrayList<UUID>();
        var found = new ArrayList<UUID>();
        String position = null;
        Instant at = null;
        Instant swept = null;
        for (PodEvent event : batch) {
            switch (event) {
                case Listed listed -> {
                    for (PodFacts pod : inOrder(listed.pods())) {
                        observe(builder, pod, listed.at());
                        builder = allocations.relieved(builder);
                    }
                    missing(builder, listed);
                    unlisted = false;
                    // While resuming, the events up to here are still to come.
                    position = listed.resuming() ? position : listed.position();
                    at = listed.at();
                }
                case Resync resync -> {
                    for (PodFacts pod : inOrder(resync.pods())) {
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
                    missing(builder, resync, swept == null ? allocations.swept() : swept);
                    swept = seconds(resync.at());
                }
                case Updated updated -> {
                    observe(builder, updated.pod(), updated.at());
                    position = updated.position();
                    at = updated.at();
                }
                case Deleted deleted -> {
                    PodFacts pod = deleted.pod();
                    hold(
                            builder,
                            pod,
                            AllocationInterval.ofRemoved(pod, seconds(deleted.at())),
                            true);
                    gone.add(pod.uid());
                    position = deleted.position();
                    at = deleted.at();
                }
                case Unlabelled unlabelled -> {
                    PodFacts pod = unlabelled.pod();
                    hold(builder, pod, AllocationInterval.of(pod, seconds(unlabelled.at())), false);
                    found.add(pod.uid());
                    position = unlabelled.position();
                    at = unlabelled.at();
                }
                case Bookmark bookmark -> {
                    position = bookmark.position();
                    at = bookmark.at();
                }
            }
            builder = allocations.relieved(builder);
        }
        // Who is awaited was last seen before that, whatever is told of others; a kill must not
        // hide it.
        Instant seen = at == null || !awaited.isEmpty() ? null : seconds(at);
        allocations.commit(builder, new FeedPosition(position, seen, swept));
        follow(batch, position, at);
        allocations.release(gone);
        gone.forEach(awaited::remove);
        // They are there, and the watch will never tell their ends.
        found.forEach(awaited::remove);
    }

    private void follow(List<PodEvent> batch, @Nullable String position, @Nullable Instant at) {
        for (PodEvent event : batch) {
            if (event instanceof Listed listed) {
                catchUp = listed.resuming() ? CatchUp.of(listed, grace) : null;
            }
        }
        if (catchUp != null && position != null && at != null) {
            catchUp = catchUp.reached(position) ? null : catchUp.heard(at);
        }
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

    /** What pods hold together begins with the first of them. */
    private static List<PodFacts> inOrder(List<PodFacts> pods) {
        return pods.stream().allMatch(pod -> pod.claimed().shared().isEmpty())
                ? pods
                : pods.stream().sorted(Comparator.comparing(PodTracker::bound)).toList();
    }

    private static Instant bound(PodFacts pod) {
        Instant scheduled = pod.lifecycle().scheduled();
        return scheduled == null ? pod.lifecycle().created() : scheduled;
    }

    private static Stream<PodFacts> pods(PodEvent event) {
        return switch (event) {
            case Listed listed -> listed.pods().stream();
            case Resync resync -> resync.pods().stream();
            case Updated updated -> Stream.of(updated.pod());
            case Deleted deleted -> Stream.of(deleted.pod());
            case Unlabelled unlabelled -> Stream.of(unlabelled.pod());
            case Bookmark bookmark -> Stream.empty();
        };
    }

    /**
     * Whether a sweep has nothing to say of an allocation, since its list may be older than what
     * the watch told. Of a pod that the watch has lost it has: that is awaited, or was taken for
     * gone.
     */
    private boolean isTheWatchs(@Nullable PodAllocation allocation) {
        return allocation != null
                && allocation.metering().watched()
                && allocation.endBound() == null
                && !awaited.containsKey(allocation.uid());
    }

    private void observe(PostingBuilder builder, PodFacts pod, Instant at) {
        hold(builder, pod, AllocationInterval.of(pod, seconds(at)), true);
    }

    /**
     * @param watched whether the watch tells it, not the sweep
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
                        begin(builder, pod, open.begin(), watched);
                    }
                } else if (!allocation.open()) {
                    builder.reopen(allocation);
                    followHolder(builder, allocation.uid());
                }
            }
            case AllocationInterval.Ended ended -> {
                PodAllocation allocation = builder.allocation(pod.uid());
                if (allocation == null) {
                    allocation = begin(builder, pod, ended.begin(), watched);
                }
                if (allocation != null && !isSettled(allocation, ended)) {
                    end(builder, allocation, ended, ended.bound());
                }
            }
        }
    }

    /**
     * Whether an end tells nothing new. One that is told by a wrong clock does not if the end is
     * known for certain, or was estimated to be no later. An estimate never replaces an end that a
     * status told before: who may write a pod may later change what the estimate is made of.
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
            PostingBuilder builder, PodFacts pod, Begin begin, boolean watched) {
        String node = Objects.requireNonNull(pod.placement().node());
        NodeFacts facts = view.node(node).orElse(NodeFacts.UNKNOWN);
        BoundShare held = HeldShare.of(pod, facts, grammars).orElse(null);
        if (held == null) {
            return null;
        }
        Weight weight = weights.at(begin.at(), facts);
        PodAllocation allocation = builder.begin(pod, node, begin, held, facts, weight, watched);
        for (ClaimAllocation allocated : pod.claimed().shared()) {
            join(builder, allocation, allocated, begin, facts, weight);
        }
        return allocation;
    }

    /** The pod begins to hold what others may hold, too: all of them are charged for it once. */
    private void join(
            PostingBuilder builder,
            PodAllocation pod,
            ClaimAllocation allocated,
            Begin begin,
            NodeFacts facts,
            Weight weight) {
        UUID id = allocated.id();
        PodAllocation known = knownClaim(builder, id);
        while (known != null && known.until() != null && known.until().isBefore(pod.from())) {
            // Nobody held it meanwhile: what follows is an allocation of its own, for all who
            // hold it then.
            id = successor(id);
            known = knownClaim(builder, id);
        }
        if (known == null) {
            builder.begin(id, allocated, pod, begin, facts, weight);
        } else if (pod.from().isBefore(known.from())) {
            // Who began before was told later.
            UUID before = after(id, pod.uid().toString());
            PodAllocation earlier = builder.begin(before, allocated, pod, begin, facts, weight);
            builder.end(
                    earlier,
                    new AllocationInterval.Ended(begin, known.from(), false, null),
                    null,
                    List.of());
        }
        builder.join(id, pod.uid());
        follow(builder, id);
    }

    private static UUID successor(UUID claim) {
        return after(claim, "");
    }

    private static UUID after(UUID claim, String what) {
        return UUID.nameUUIDFromBytes((claim + "/" + what).getBytes(UTF_8));
    }

    private void followHolder(PostingBuilder builder, UUID pod) {
        builder.claims(pod).toList().forEach(claim -> follow(builder, claim));
    }

    /**
     * An allocation is held as long as any of its pods does. Who turns out to hold it still when
     * another one had begun after it holds that one.
     */
    private void follow(PostingBuilder builder, UUID claim) {
        PodAllocation shared = knownClaim(builder, claim);
        List<PodAllocation> holders =
                builder.holders(claim)
                        .map(pod -> known(builder, pod))
                        .filter(Objects::nonNull)
                        .toList();
        if (shared == null || holders.isEmpty()) {
            return;
        }
        PodAllocation next = knownClaim(builder, successor(claim));
        if (next != null && holders.stream().anyMatch(it -> isHeldAt(it, next.from()))) {
            passOn(builder, shared, holders, next);
            return;
        }
        if (holders.stream().anyMatch(PodAllocation::open)) {
            if (!shared.open()) {
                builder.reopen(shared);
            }
            return;
        }
        PodAllocation last = Collections.max(holders, Comparator.comparing(PodTracker::end));
        var ended = new AllocationInterval.Ended(shared.from(), end(last), last.estimated());
        end(builder, shared, ended, last.endBound());
    }

    private void passOn(
            PostingBuilder builder,
            PodAllocation shared,
            List<PodAllocation> holders,
            PodAllocation next) {
        end(builder, shared, new AllocationInterval.Ended(shared.from(), next.from(), false), null);
        List<UUID> known = builder.holders(next.uid()).toList();
        holders.stream()
                .filter(it -> isHeldAt(it, next.from()) && !known.contains(it.uid()))
                .forEach(it -> builder.join(next.uid(), it.uid()));
        follow(builder, next.uid());
    }

    private static boolean isHeldAt(PodAllocation pod, Instant instant) {
        return pod.until() == null || pod.until().isAfter(instant);
    }

    private static Instant end(PodAllocation allocation) {
        return Objects.requireNonNull(allocation.until());
    }

    /** Also if it has ended, and memory does not hold it any more. */
    private @Nullable PodAllocation known(PostingBuilder builder, UUID uid) {
        PodAllocation allocation = builder.allocation(uid);
        if (allocation == null) {
            allocations.hold(ledger.allocations(List.of(uid)));
        }
        return builder.allocation(uid);
    }

    /** The same of what pods hold together, with those who hold it or did. */
    private @Nullable PodAllocation knownClaim(PostingBuilder builder, UUID claim) {
        if (builder.allocation(claim) == null) {
            allocations.rememberClaim(claim);
        }
        return builder.allocation(claim);
    }

    private void end(
            PostingBuilder builder,
            PodAllocation allocation,
            AllocationInterval.Ended ended,
            @Nullable Instant bound) {
        PodAllocation committed = allocations.get(allocation.uid());
        boolean beyond = committed != null && committed.chargedUntil().isAfter(ended.to());
        builder.end(
                allocation,
                ended,
                bound,
                beyond ? ledger.entriesBeyond(allocation.uid(), ended.to()) : List.of());
        followHolder(builder, allocation.uid());
    }

    /** Open allocations whose pods are not in the list: their ends are waited for, or estimated. */
    private void missing(PostingBuilder builder, Listed listed) {
        Map<UUID, Instant> missing =
                absent(builder, listed.pods(), allocation -> allocation.metering().watched())
                        .collect(
                                Collectors.toMap(
                                        PodAllocation::uid, allocation -> allocations.seen()));
        if (listed.resuming()) {
            awaited.putAll(missing);
            awaitedUntil = listed.at().plus(grace);
        } else {
            missing.putAll(awaited);
            missing.forEach((uid, known) -> vanish(builder, uid, known, seconds(listed.at())));
            awaited.clear();
        }
    }

    /**
     * Nobody tells the end of those: it lies between the last sweep that found them and this.
     *
     * @param before the sweep before; null if none is known
     */
    private void missing(PostingBuilder builder, Resync resync, @Nullable Instant before) {
        absent(builder, resync.pods(), allocation -> !allocation.metering().watched())
                .toList()
                .forEach(allocation ->
                        // Without a sweep before: an installation older than the note of them.
                        vanish(
                                builder,
                                allocation.uid(),
                                before == null ? allocation.postedUntil() : before,
                                seconds(resync.at())));
    }

    private Stream<PodAllocation> absent(
            PostingBuilder builder, List<PodFacts> pods, Predicate<PodAllocation> which) {
        Set<UUID> present = pods.stream().map(PodFacts::uid).collect(Collectors.toSet());
        // Who began in an earlier list of the same batch may have gone since, too.
        return Stream.concat(allocations.all().map(builder::now), builder.begun().stream())
                .filter(PodAllocation::open)
                .filter(allocation -> !allocation.isShared())
                .filter(which)
                .filter(allocation -> !present.contains(allocation.uid()));
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }

    private void vanish(PostingBuilder builder, UUID uid, Instant lastKnown, Instant bound) {
        PodAllocation allocation = builder.allocation(uid);
        if (allocation != null && allocation.open()) {
            // Our clock may have been ahead when we last heard of it.
            Instant last = lastKnown.isBefore(bound) ? lastKnown : bound;
            end(
                    builder,
                    allocation,
                    new AllocationInterval.Ended(allocation.from(), last, true),
                    bound);
        }
    }

    /** Whether the ends of pods that vanished have been waited for long enough. */
    boolean isWaitOver(Instant now) {
        return awaitedUntil != null && now.isAfter(awaitedUntil);
    }

    /** Estimates the ends that were waited for. */
    void estimate(PostingBuilder builder, Instant now) {
        awaited.forEach((uid, known) -> vanish(builder, uid, known, seconds(now)));
    }

    /** The estimates are committed. */
    void estimated() {
        awaited.clear();
        awaitedUntil = null;
    }
}
