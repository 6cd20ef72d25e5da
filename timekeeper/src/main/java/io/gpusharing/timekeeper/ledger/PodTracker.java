package io.gpusharing.timekeeper.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.News.Changed;
import io.gpusharing.timekeeper.ledger.News.Listed;
import io.gpusharing.timekeeper.ledger.News.Passed;
import io.gpusharing.timekeeper.ledger.News.Removed;
import io.gpusharing.timekeeper.ledger.News.Swept;
import io.gpusharing.timekeeper.ledger.News.Task;
import io.gpusharing.timekeeper.ledger.News.Unlabelled;
import io.gpusharing.timekeeper.ledger.Posting.Heard;
import io.gpusharing.timekeeper.metering.Claimed.Allocation;
import io.gpusharing.timekeeper.metering.HeldShare;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.Stay;
import io.gpusharing.timekeeper.metering.Stay.Begin;
import io.gpusharing.timekeeper.metering.Weight;
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
 * Turns news of pods into stays that begin and end. Pods that vanished while nobody watched are
 * given some time: the API server may still tell their ends. After that an end is estimated.
 *
 * <p>Belongs to the bookkeeper's thread.
 */
final class PodTracker {

    private final Stays stays;
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
            Stays stays,
            Ledger ledger,
            ClusterView view,
            RequestGrammars grammars,
            ModelWeights weights,
            Duration grace) {
        this.stays = stays;
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

    /** Takes news of pods, as one posting unless they are very many. */
    void take(List<News> batch) {
        remember(batch);
        Draft draft = stays.draft();
        var gone = new ArrayList<UUID>();
        var found = new ArrayList<UUID>();
        String position = null;
        Instant at = null;
        Instant swept = null;
        for (News news : batch) {
            switch (news) {
                case Listed listed -> {
                    for (PodFacts pod : inOrder(listed.pods())) {
                        observe(draft, pod, listed.at());
                        draft = stays.relieved(draft);
                    }
                    missing(draft, listed);
                    unlisted = false;
                    // While resuming, the news up to here is still to come.
                    position = listed.resuming() ? position : listed.position();
                    at = listed.at();
                }
                case Swept all -> {
                    for (PodFacts pod : inOrder(all.pods())) {
                        if (!isTheWatchs(draft.stay(pod.uid()))) {
                            hold(draft, pod, Stay.of(pod, seconds(all.at())), false);
                            found.add(pod.uid());
                        }
                        draft = stays.relieved(draft);
                    }
                    missing(draft, all, swept == null ? stays.swept() : swept);
                    swept = seconds(all.at());
                }
                case Changed changed -> {
                    observe(draft, changed.pod(), changed.at());
                    position = changed.position();
                    at = changed.at();
                }
                case Removed removed -> {
                    PodFacts pod = removed.pod();
                    hold(draft, pod, Stay.ofRemoved(pod, seconds(removed.at())), true);
                    gone.add(pod.uid());
                    position = removed.position();
                    at = removed.at();
                }
                case Unlabelled unlabelled -> {
                    PodFacts pod = unlabelled.pod();
                    hold(draft, pod, Stay.of(pod, seconds(unlabelled.at())), false);
                    found.add(pod.uid());
                    position = unlabelled.position();
                    at = unlabelled.at();
                }
                case Passed passed -> {
                    position = passed.position();
                    at = passed.at();
                }
                case Task task -> throw new IllegalArgumentException("No news: " + task);
            }
            draft = stays.relieved(draft);
        }
        // Who is awaited was last seen before that, whatever is told of others; a kill must not
        // hide it.
        Instant seen = at == null || !awaited.isEmpty() ? null : seconds(at);
        stays.commit(draft, new Heard(position, seen, swept));
        follow(batch, position, at);
        stays.release(gone);
        gone.forEach(awaited::remove);
        // They are there, and the watch will never tell their ends.
        found.forEach(awaited::remove);
    }

    private void follow(List<News> batch, @Nullable String position, @Nullable Instant at) {
        for (News news : batch) {
            if (news instanceof Listed listed) {
                catchUp = listed.resuming() ? CatchUp.of(listed, grace) : null;
            }
        }
        if (catchUp != null && position != null && at != null) {
            catchUp = catchUp.reached(position) ? null : catchUp.heard(at);
        }
    }

    /** Stays of pods that memory does not hold, because they are new or had ended before. */
    private void remember(List<News> batch) {
        Set<UUID> unknown =
                batch.stream()
                        .flatMap(PodTracker::pods)
                        .map(PodFacts::uid)
                        .filter(uid -> stays.get(uid) == null)
                        .collect(Collectors.toSet());
        if (!unknown.isEmpty()) {
            stays.remember(unknown);
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

    private static Stream<PodFacts> pods(News news) {
        return switch (news) {
            case Listed listed -> listed.pods().stream();
            case Swept all -> all.pods().stream();
            case Changed changed -> Stream.of(changed.pod());
            case Removed removed -> Stream.of(removed.pod());
            case Unlabelled unlabelled -> Stream.of(unlabelled.pod());
            case Passed passed -> Stream.empty();
            case Task task -> Stream.empty();
        };
    }

    /**
     * Whether a sweep has nothing to say of a stay, since its list may be older than what the watch
     * told. Of a pod that the watch has lost it has: that is awaited, or was taken for gone.
     */
    private boolean isTheWatchs(@Nullable PodStay stay) {
        return stay != null
                && stay.metering().watched()
                && stay.endBound() == null
                && !awaited.containsKey(stay.uid());
    }

    private void observe(Draft draft, PodFacts pod, Instant at) {
        hold(draft, pod, Stay.of(pod, seconds(at)), true);
    }

    /**
     * @param watched whether the watch tells it, not the sweep
     */
    private void hold(Draft draft, PodFacts pod, Stay told, boolean watched) {
        PodStay known = draft.stay(pod.uid());
        if (known != null && watched != known.metering().watched()) {
            draft.watch(known, watched);
        }
        switch (told) {
            case Stay.None none -> {}
            case Stay.Open open -> {
                PodStay stay = draft.stay(pod.uid());
                if (stay == null) {
                    // What it holds by claims is frozen here, so all of them are waited for.
                    if (pod.claimed().complete()) {
                        begin(draft, pod, open.begin(), watched);
                    }
                } else if (!stay.open()) {
                    draft.reopen(stay);
                    followHolder(draft, stay.uid());
                }
            }
            case Stay.Ended ended -> {
                PodStay stay = draft.stay(pod.uid());
                if (stay == null) {
                    stay = begin(draft, pod, ended.begin(), watched);
                }
                if (stay != null && !isSettled(stay, ended)) {
                    end(draft, stay, ended, ended.bound());
                }
            }
        }
    }

    /**
     * Whether an end tells nothing new. One that is told by a wrong clock does not if the end is
     * known for certain, or was estimated to be no later. An estimate never replaces an end that a
     * status told before: who may write a pod may later change what the estimate is made of.
     */
    private static boolean isSettled(PodStay stay, Stay.Ended told) {
        Instant until = stay.until();
        if (until == null || !told.estimated()) {
            return false;
        }
        return told.bound() == null
                ? stay.endBound() == null
                : !stay.estimated() || !told.to().isBefore(until);
    }

    /** Null for a pod that carries our label but asks for no GPU. */
    private @Nullable PodStay begin(Draft draft, PodFacts pod, Begin begin, boolean watched) {
        String node = Objects.requireNonNull(pod.placement().node());
        NodeFacts facts = view.node(node).orElse(NodeFacts.UNKNOWN);
        BoundShare held = HeldShare.of(pod, facts, grammars).orElse(null);
        if (held == null) {
            return null;
        }
        Weight weight = weights.at(begin.at(), facts);
        PodStay stay = draft.begin(pod, node, begin, held, facts, weight, watched);
        for (Allocation allocated : pod.claimed().shared()) {
            join(draft, stay, allocated, begin, facts, weight);
        }
        return stay;
    }

    /** The pod begins to hold what others may hold, too: all of them are charged for it once. */
    private void join(
            Draft draft,
            PodStay pod,
            Allocation allocated,
            Begin begin,
            NodeFacts facts,
            Weight weight) {
        UUID id = allocated.id();
        PodStay known = known(draft, id);
        while (known != null && known.until() != null && known.until().isBefore(pod.from())) {
            // Nobody held it meanwhile: what follows is a stay of its own, for all who hold it
            // then.
            id = after(id, "");
            known = known(draft, id);
        }
        if (known == null) {
            draft.begin(id, allocated, pod, begin, facts, weight);
        } else if (pod.from().isBefore(known.from())) {
            // Who began before was told later.
            UUID before = after(id, pod.uid().toString());
            PodStay earlier = draft.begin(before, allocated, pod, begin, facts, weight);
            draft.end(earlier, new Stay.Ended(begin, known.from(), false, null), null, List.of());
        }
        draft.join(id, pod.uid());
        follow(draft, id);
    }

    private static UUID after(UUID allocation, String what) {
        return UUID.nameUUIDFromBytes((allocation + "/" + what).getBytes(UTF_8));
    }

    private void followHolder(Draft draft, UUID pod) {
        draft.allocations(pod).toList().forEach(allocation -> follow(draft, allocation));
    }

    /** An allocation is held as long as any of its pods does. */
    private void follow(Draft draft, UUID allocation) {
        PodStay claim = known(draft, allocation);
        List<PodStay> holders =
                draft.holders(allocation)
                        .map(pod -> known(draft, pod))
                        .filter(Objects::nonNull)
                        .toList();
        if (claim == null || holders.isEmpty()) {
            return;
        }
        if (holders.stream().anyMatch(PodStay::open)) {
            if (!claim.open()) {
                draft.reopen(claim);
            }
            return;
        }
        PodStay last = Collections.max(holders, Comparator.comparing(PodTracker::end));
        var ended = new Stay.Ended(claim.from(), end(last), last.estimated());
        end(draft, claim, ended, last.endBound());
    }

    private static Instant end(PodStay stay) {
        return Objects.requireNonNull(stay.until());
    }

    /** Also if it has ended, and memory does not hold it any more. */
    private @Nullable PodStay known(Draft draft, UUID uid) {
        PodStay stay = draft.stay(uid);
        if (stay == null) {
            stays.hold(ledger.stays(List.of(uid)));
        }
        return draft.stay(uid);
    }

    private void end(Draft draft, PodStay stay, Stay.Ended ended, @Nullable Instant bound) {
        PodStay committed = stays.get(stay.uid());
        boolean beyond = committed != null && committed.chargedUntil().isAfter(ended.to());
        draft.end(
                stay,
                ended,
                bound,
                beyond ? ledger.entriesBeyond(stay.uid(), ended.to()) : List.of());
        followHolder(draft, stay.uid());
    }

    /** Open stays whose pods are not in the list: their ends are waited for, or estimated. */
    private void missing(Draft draft, Listed listed) {
        Map<UUID, Instant> missing =
                absent(draft, listed.pods(), stay -> stay.metering().watched())
                        .collect(Collectors.toMap(PodStay::uid, stay -> stays.seen()));
        if (listed.resuming()) {
            awaited.putAll(missing);
            awaitedUntil = listed.at().plus(grace);
        } else {
            missing.putAll(awaited);
            missing.forEach((uid, known) -> vanish(draft, uid, known, seconds(listed.at())));
            awaited.clear();
        }
    }

    /**
     * Nobody tells the end of those: it lies between the last sweep that found them and this.
     *
     * @param before the sweep before; null if none is known
     */
    private void missing(Draft draft, Swept all, @Nullable Instant before) {
        absent(draft, all.pods(), stay -> !stay.metering().watched())
                .toList()
                .forEach(stay ->
                        // Without a sweep before: an installation older than the note of them.
                        vanish(
                                draft,
                                stay.uid(),
                                before == null ? stay.postedUntil() : before,
                                seconds(all.at())));
    }

    private Stream<PodStay> absent(Draft draft, List<PodFacts> pods, Predicate<PodStay> which) {
        Set<UUID> present = pods.stream().map(PodFacts::uid).collect(Collectors.toSet());
        // Who began in an earlier list of the same batch may have gone since, too.
        return Stream.concat(stays.all().map(draft::now), draft.begun().stream())
                .filter(PodStay::open)
                .filter(stay -> !stay.isAllocation())
                .filter(which)
                .filter(stay -> !present.contains(stay.uid()));
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }

    private void vanish(Draft draft, UUID uid, Instant lastKnown, Instant bound) {
        PodStay stay = draft.stay(uid);
        if (stay != null && stay.open()) {
            // Our clock may have been ahead when we last heard of it.
            Instant last = lastKnown.isBefore(bound) ? lastKnown : bound;
            end(draft, stay, new Stay.Ended(stay.from(), last, true), bound);
        }
    }

    /** Whether the ends of pods that vanished have been waited for long enough. */
    boolean isWaitOver(Instant now) {
        return awaitedUntil != null && now.isAfter(awaitedUntil);
    }

    /** Estimates the ends that were waited for. */
    void estimate(Draft draft, Instant now) {
        awaited.forEach((uid, known) -> vanish(draft, uid, known, seconds(now)));
    }

    /** The estimates are committed. */
    void estimated() {
        awaited.clear();
        awaitedUntil = null;
    }
}
