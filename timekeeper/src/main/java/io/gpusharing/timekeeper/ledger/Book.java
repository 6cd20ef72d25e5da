package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.News.Changed;
import io.gpusharing.timekeeper.ledger.News.Listed;
import io.gpusharing.timekeeper.ledger.News.Passed;
import io.gpusharing.timekeeper.ledger.News.Removed;
import io.gpusharing.timekeeper.ledger.News.Swept;
import io.gpusharing.timekeeper.ledger.News.Task;
import io.gpusharing.timekeeper.metering.HeldShare;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.Stay;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The stays of all pods that are there, as they are committed. It belongs to the bookkeeper's
 * thread.
 */
@Component
class Book {

    /** What is reported later about a pod that has ended changes no charge any more. */
    private static final Duration LATE_REPORTS = Duration.ofHours(2);

    /** What people correct does not show in the state that the leader writes with its news. */
    private static final Duration READ_ANEW = Duration.ofSeconds(30);

    private final Ledger ledger;
    private final Tariffs tariffs;
    private final ClusterView view;
    private final RequestGrammars grammars;
    private final ModelWeights weights;
    private final Settlement settlement;
    private final LedgerProperties properties;
    private final Clock clock;

    private final Map<UUID, PodStay> stays = new HashMap<>();

    /** Pods that vanished while nobody watched, and when they were there last. */
    private final Map<UUID, Instant> awaited = new HashMap<>();

    private Ledger.@Nullable State state;

    /** Whether another replica keeps the ledger, and we only look at it. */
    private boolean looking;

    /** Whether the pods have not been listed yet since we took over. */
    private boolean unlisted;

    private Instant readAnew = Instant.MIN;
    private @Nullable Instant awaitedUntil;
    private @Nullable CatchUp catchUp;
    private Instant hourPosted = Instant.MIN;
    private Instant settled = Instant.MIN;
    private @Nullable Instant swept;
    private Instant seen = Instant.MIN;

    Book(
            Ledger ledger,
            Tariffs tariffs,
            ClusterView view,
            RequestGrammars grammars,
            ModelWeights weights,
            Settlement settlement,
            LedgerProperties properties,
            Clock clock) {
        this.ledger = ledger;
        this.tariffs = tariffs;
        this.view = view;
        this.grammars = grammars;
        this.weights = weights;
        this.settlement = settlement;
        this.properties = properties;
        this.clock = clock;
    }

    /**
     * What happened while nobody watched is being told: pods look as if they still ran that ended
     * long ago, so nobody may draw conclusions yet.
     *
     * @param position of the list that was made at the beginning; beyond it all is told
     * @param quietAt when it is over if nothing more is told
     * @param endsAt when it is over whatever is told
     */
    private record CatchUp(String position, Instant quietAt, Instant endsAt) {

        private static final Duration QUIET = Duration.ofSeconds(2);

        static CatchUp of(Listed listed, Duration grace) {
            return new CatchUp(listed.position(), listed.at().plus(QUIET), listed.at().plus(grace));
        }

        /** Positions of one resource grow and can be compared as numbers; others end by time. */
        boolean reached(String told) {
            return told.length() > position.length()
                    || (told.length() == position.length() && told.compareTo(position) >= 0);
        }

        CatchUp heard(Instant at) {
            return new CatchUp(position, at.plus(QUIET), endsAt);
        }

        Instant over() {
            return quietAt.isBefore(endsAt) ? quietAt : endsAt;
        }
    }

    /** Whole seconds, as the API server counts: so that no charge is ever rounded. */
    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }

    /** When time alone brings a posting. */
    @Nullable Instant nextDue() {
        if (unlisted) {
            return null;
        }
        Instant closing = clock.instant().minus(properties.hourCloses());
        Instant closes = earlier(Entry.hourAfter(closing), nextMark(closing));
        Instant caughtUp = catchUp == null ? null : catchUp.over();
        return Stream.of(
                        closes.plus(properties.hourCloses()),
                        awaitedUntil,
                        caughtUp,
                        tariffs.nextDue())
                .filter(Objects::nonNull)
                .min(Instant::compareTo)
                .orElse(null);
    }

    /** Memory may be wrong: all of it is read again before the next posting. */
    void forget() {
        state = null;
    }

    /** Posts what the news mean, taking away what is kept, and then what is due. */
    void keep(Deque<News> pending) {
        restore();
        while (!pending.isEmpty()) {
            if (pending.getFirst() instanceof Task(Runnable work)) {
                work.run();
                tariffs.restored(open());
                repriceAll();
                pending.removeFirst();
            } else {
                List<News> batch =
                        pending.stream().takeWhile(news -> !(news instanceof Task)).toList();
                keep(batch);
                batch.forEach(news -> pending.removeFirst());
            }
        }
        postDue();
    }

    /**
     * Does what is to be done between two postings, taking it away, and shows what the rows come to
     * that another replica writes.
     */
    void look(Deque<News> tasks) {
        Ledger.State read = ledger.open(now());
        boolean asked = !tasks.isEmpty();
        while (!tasks.isEmpty()) {
            if (tasks.getFirst() instanceof Task(Runnable work)) {
                work.run();
            }
            tasks.removeFirst();
        }
        Instant now = clock.instant();
        if (asked || !looking || !read.equals(state) || !now.isBefore(readAnew)) {
            load(read);
            readAnew = now.plus(READ_ANEW);
        }
        looking = true;
        tariffs.looked(now);
    }

    /**
     * A term begins after one of somebody else's: what we know is old, and what happened meanwhile
     * is still to be told.
     */
    void takeOver() {
        looking = false;
        unlisted = true;
        state = null;
        awaited.clear();
        awaitedUntil = null;
        catchUp = null;
        hourPosted = Instant.MIN;
        settled = Instant.MIN;
        swept = null;
    }

    private void restore() {
        if (state == null) {
            load(ledger.open(now()));
        }
    }

    private void load(Ledger.State read) {
        stays.clear();
        ledger.openStays().forEach(stay -> stays.put(stay.uid(), stay));
        seen = read.seenUntil() == null ? read.meteringStart() : read.seenUntil();
        tariffs.restored(open());
        state = read;
    }

    private void keep(List<News> batch) {
        remember(batch);
        Draft draft = draft();
        var gone = new ArrayList<UUID>();
        String position = null;
        Instant at = null;
        for (News news : batch) {
            switch (news) {
                case Listed listed -> {
                    for (PodFacts pod : listed.pods()) {
                        observe(draft, pod, listed.at());
                        draft = relieved(draft);
                    }
                    missing(draft, listed);
                    unlisted = false;
                    // While resuming, the news up to here are still to come.
                    position = listed.resuming() ? position : listed.position();
                    at = listed.at();
                }
                case Swept all -> {
                    for (PodFacts pod : all.pods()) {
                        hold(draft, pod, Stay.of(pod, seconds(all.at())), false);
                        draft = relieved(draft);
                    }
                    missing(draft, all);
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
                case Passed passed -> {
                    position = passed.position();
                    at = passed.at();
                }
                case Task task -> throw new IllegalArgumentException("No news: " + task);
            }
            draft = relieved(draft);
        }
        commit(draft.posting(position, at == null ? null : seconds(at)));
        follow(batch, position, at);
        gone.forEach(stays::remove);
        awaited.keySet().removeAll(gone);
    }

    private void follow(List<News> batch, @Nullable String position, @Nullable Instant at) {
        for (News news : batch) {
            if (news instanceof Listed listed) {
                catchUp = listed.resuming() ? CatchUp.of(listed, properties.resumeGrace()) : null;
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
                        .flatMap(Book::pods)
                        .map(PodFacts::uid)
                        .filter(uid -> !stays.containsKey(uid))
                        .collect(Collectors.toSet());
        if (!unknown.isEmpty()) {
            ledger.stays(unknown).forEach(stay -> stays.put(stay.uid(), stay));
        }
    }

    private static Stream<PodFacts> pods(News news) {
        return switch (news) {
            case Listed listed -> listed.pods().stream();
            case Swept all -> all.pods().stream();
            case Changed changed -> Stream.of(changed.pod());
            case Removed removed -> Stream.of(removed.pod());
            case Passed passed -> Stream.empty();
            case Task task -> Stream.empty();
        };
    }

    private void observe(Draft draft, PodFacts pod, Instant at) {
        hold(draft, pod, Stay.of(pod, seconds(at)), true);
    }

    /**
     * A draft that has grown large is committed as far as it has come. How far the news were taken
     * is not, so whatever happens next they are told again, and taken for what they are: known.
     */
    private Draft relieved(Draft draft) {
        if (!draft.isLarge()) {
            return draft;
        }
        commit(draft.posting(null, null));
        return draft();
    }

    /**
     * @param watched whether the watch tells it, not the sweep
     */
    private void hold(Draft draft, PodFacts pod, Stay told, boolean watched) {
        PodStay known = draft.stay(pod.uid());
        if (known != null && watched && !known.metering().watched()) {
            draft.watch(known);
        }
        switch (told) {
            case Stay.None none -> {}
            case Stay.Open open -> {
                PodStay stay = draft.stay(pod.uid());
                if (stay == null) {
                    begin(draft, pod, open.from(), watched);
                } else if (!stay.open()) {
                    draft.reopen(stay);
                }
            }
            case Stay.Ended ended -> {
                PodStay stay = draft.stay(pod.uid());
                if (stay == null) {
                    stay = begin(draft, pod, ended.from(), watched);
                }
                if (stay != null && !isSettled(stay, ended)) {
                    end(draft, stay, ended, ended.bound());
                }
            }
        }
    }

    /**
     * A later write that says the end by a clock that is wrong tells nothing new: neither of an end
     * that was told well, nor of one that was estimated sooner.
     */
    private static boolean isSettled(PodStay stay, Stay.Ended told) {
        Instant until = stay.until();
        return told.bound() != null
                && until != null
                && (!stay.estimated() || !told.to().isBefore(until));
    }

    /** Null for a pod that carries our label but asks for no GPU. */
    private @Nullable PodStay begin(Draft draft, PodFacts pod, Instant from, boolean watched) {
        String node = Objects.requireNonNull(pod.placement().node());
        NodeFacts facts = view.node(node).orElse(NodeFacts.UNKNOWN);
        return HeldShare.of(pod.request(), facts, grammars)
                .map(held ->
                        draft.begin(pod, node, from, held, facts, weights.at(from, facts), watched))
                .orElse(null);
    }

    private void end(Draft draft, PodStay stay, Stay.Ended ended, @Nullable Instant bound) {
        PodStay committed = stays.get(stay.uid());
        boolean beyond = committed != null && committed.chargedUntil().isAfter(ended.to());
        draft.end(
                stay,
                ended,
                bound,
                beyond ? ledger.entriesBeyond(stay.uid(), ended.to()) : List.of());
    }

    /** Open stays whose pods are gone: their ends may still be told, or are estimated. */
    private void missing(Draft draft, Listed listed) {
        Map<UUID, Instant> missing =
                absent(draft, listed.pods(), stay -> stay.metering().watched())
                        .collect(Collectors.toMap(PodStay::uid, stay -> seen));
        if (listed.resuming()) {
            awaited.putAll(missing);
            awaitedUntil = listed.at().plus(properties.resumeGrace());
        } else {
            missing.putAll(awaited);
            missing.forEach((uid, known) -> vanish(draft, uid, known, seconds(listed.at())));
            awaited.clear();
        }
    }

    /** Nobody tells the end of those: it lies between the last sweep that found them and this. */
    private void missing(Draft draft, Swept all) {
        absent(draft, all.pods(), stay -> !stay.metering().watched())
                .toList()
                .forEach(stay ->
                        vanish(
                                draft,
                                stay.uid(),
                                swept == null ? stay.postedUntil() : swept,
                                seconds(all.at())));
    }

    private Stream<PodStay> absent(Draft draft, List<PodFacts> pods, Predicate<PodStay> which) {
        Set<UUID> present = pods.stream().map(PodFacts::uid).collect(Collectors.toSet());
        // Who began in an earlier list of the same batch may have gone since, too.
        return Stream.concat(stays.values().stream().map(draft::now), draft.begun().stream())
                .filter(PodStay::open)
                .filter(which)
                .filter(stay -> !present.contains(stay.uid()));
    }

    private void vanish(Draft draft, UUID uid, Instant lastKnown, Instant bound) {
        PodStay stay = draft.stay(uid);
        if (stay != null && stay.open()) {
            end(draft, stay, new Stay.Ended(stay.from(), lastKnown, true), bound);
        }
    }

    private void postDue() {
        if (unlisted) {
            return;
        }
        Instant now = clock.instant();
        Draft draft = draft();
        Instant hour = now.minus(properties.hourCloses()).truncatedTo(ChronoUnit.HOURS);
        if (hour.isAfter(hourPosted)) {
            for (PodStay stay : open()) {
                draft.postUntil(stay, hour);
                draft = relieved(draft);
            }
        }
        Instant mark = lastMark(now.minus(properties.hourCloses()));
        if (mark.isAfter(settled)) {
            for (PodStay stay : open()) {
                if (byUse(stay)) {
                    draft.postUntil(draft.now(stay), mark);
                    draft = relieved(draft);
                }
            }
        }
        Map<String, Instant> cuts = tariffs.due(now);
        if (!cuts.isEmpty()) {
            for (PodStay stay : open()) {
                Instant cut = cuts.get(stay.budget());
                if (cut != null) {
                    draft.postUntil(draft.now(stay), cut);
                    draft = relieved(draft);
                }
            }
        }
        boolean given = awaitedUntil != null && now.isAfter(awaitedUntil);
        if (given) {
            Draft last = draft;
            awaited.forEach((uid, known) -> vanish(last, uid, known, seconds(now)));
        }
        commit(draft.posting(null, null));
        if (catchUp != null && !now.isBefore(catchUp.over())) {
            catchUp = null;
        }
        // While news of the past still come, more would have to be taken back.
        if (catchUp == null) {
            if (mark.isAfter(settled)) {
                settle(mark);
                settled = mark;
            }
            tariffs.upToDate(now);
        }
        hourPosted = hour;
        if (given) {
            awaited.clear();
            awaitedUntil = null;
        }
    }

    /** Brings whoever is charged by measured use to what was measured until a mark. */
    private void settle(Instant mark) {
        Map<UUID, PodStay> ended =
                ledger.endedByUse(mark.minus(LATE_REPORTS)).stream()
                        .filter(stay -> !stays.containsKey(stay.uid()))
                        .collect(Collectors.toMap(PodStay::uid, Function.identity()));
        stays.putAll(ended);
        List<PodStay> all = stays.values().stream().filter(Book::byUse).toList();
        Map<UUID, Measured> measured = settlement.measured(all);
        settle(all, measured, mark);
        stays.keySet().removeAll(ended.keySet());
        Instant fresh = mark.minus(properties.settleEvery());
        var unmeasured = new HashMap<String, Integer>();
        all.stream()
                .filter(PodStay::open)
                .forEach(stay -> {
                    Measured told = measured.get(stay.uid());
                    boolean blind = told == null || told.last().isBefore(fresh);
                    unmeasured.merge(stay.budget(), blind ? 1 : 0, Integer::sum);
                });
        tariffs.unmeasured(unmeasured);
    }

    private void settle(List<PodStay> those, Map<UUID, Measured> measured, Instant mark) {
        if (!those.isEmpty()) {
            Draft draft = draft();
            settlement.settle(draft, those, measured, mark);
            commit(draft.posting(null, null));
        }
    }

    private static boolean byUse(PodStay stay) {
        return stay.metering().use() != null;
    }

    private Instant lastMark(Instant instant) {
        long every = properties.settleEvery().toSeconds();
        return Instant.ofEpochSecond(Math.floorDiv(instant.getEpochSecond(), every) * every);
    }

    private Instant nextMark(Instant instant) {
        return lastMark(instant).plus(properties.settleEvery());
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /** Other terms for an open stay. */
    private record Change(UUID uid, Tariff tariff, long shareRate) {}

    /** After budgets have changed: who pays otherwise, or another rate, from then on. */
    private void repriceAll() {
        List<Change> changes = open().stream().flatMap(this::change).toList();
        if (changes.isEmpty()) {
            return;
        }
        Draft old = draft();
        changes.forEach(it -> old.postUntil(committed(it), it.tariff().since()));
        commit(old.posting(null, null));
        Map<UUID, Measured> measured =
                settlement.measured(
                        changes.stream()
                                .filter(it -> byUse(committed(it)) || it.tariff().byUse())
                                .map(this::committed)
                                .toList());
        settle(changes.stream().map(this::committed).filter(Book::byUse).toList(), measured, now());
        Draft draft = draft();
        for (Change it : changes) {
            PodStay stay = committed(it);
            draft.reprice(
                    stay,
                    it.tariff().budget(),
                    it.shareRate(),
                    it.tariff().byUse() ? Settlement.stretch(stay, measured.get(it.uid())) : null);
        }
        commit(draft.posting(null, null));
    }

    private Stream<Change> change(PodStay stay) {
        Tariff tariff = tariffs.of(stay.namespace());
        NodeFacts node = view.node(stay.node()).orElse(NodeFacts.UNKNOWN);
        long rate = tariff.rule().rate(new BoundShare(stay.share(), stay.shareKnown()), node);
        boolean same =
                tariff.budget().equals(stay.budget())
                        && rate == stay.price().share()
                        && tariff.byUse() == byUse(stay);
        return same ? Stream.empty() : Stream.of(new Change(stay.uid(), tariff, rate));
    }

    private PodStay committed(Change change) {
        return Objects.requireNonNull(stays.get(change.uid()));
    }

    private void commit(Posting posting) {
        if (posting.isEmpty()) {
            return;
        }
        ledger.post(posting);
        posting.moves().forEach(move -> stays.put(move.after().uid(), move.after()));
        seen = posting.seen() == null ? seen : posting.seen();
        tariffs.posted(posting);
    }

    private Draft draft() {
        return new Draft(stays::get, tariffs, Objects.requireNonNull(state).meteringStart());
    }

    private List<PodStay> open() {
        return stays.values().stream().filter(PodStay::open).toList();
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
