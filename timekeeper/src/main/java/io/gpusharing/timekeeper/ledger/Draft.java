package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.PodStay.ByUse;
import io.gpusharing.timekeeper.ledger.PodStay.Held;
import io.gpusharing.timekeeper.ledger.PodStay.Metering;
import io.gpusharing.timekeeper.ledger.PodStay.Price;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.Posting.Heard;
import io.gpusharing.timekeeper.ledger.Posting.Move;
import io.gpusharing.timekeeper.ledger.Posting.Read;
import io.gpusharing.timekeeper.metering.Claimed.Allocation;
import io.gpusharing.timekeeper.metering.HeldShare;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.PodFacts.Owner;
import io.gpusharing.timekeeper.metering.Stay.Begin;
import io.gpusharing.timekeeper.metering.Stay.Ended;
import io.gpusharing.timekeeper.metering.Weight;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A posting in the making: changed stays and the entries that follow from them. It touches nothing
 * outside itself until it is committed.
 */
final class Draft {

    /** Entries beyond which a draft is large: some tens of megabytes. */
    private static final int LARGE = 50_000;

    private final Function<UUID, @Nullable PodStay> book;
    private final Holders before;
    private final List<Holder> joined = new ArrayList<>();
    private final Tariffs tariffs;
    private final Instant meteringStart;
    private final Map<UUID, PodStay> changed = new LinkedHashMap<>();
    private final List<Entry> charges = new ArrayList<>();
    private final List<Correction> corrections = new ArrayList<>();
    private final List<Read> read = new ArrayList<>();

    /**
     * @param book the stays as they are committed
     * @param before who holds allocations, as it is committed
     * @param meteringStart nothing before is charged
     */
    Draft(
            Function<UUID, @Nullable PodStay> book,
            Holders before,
            Tariffs tariffs,
            Instant meteringStart) {
        this.book = book;
        this.before = before;
        this.tariffs = tariffs;
        this.meteringStart = meteringStart;
    }

    /** Whether it should be committed before it grows further. */
    boolean isLarge() {
        return charges.size() + corrections.size() >= LARGE;
    }

    @Nullable PodStay stay(UUID uid) {
        PodStay drafted = changed.get(uid);
        return drafted != null ? drafted : book.apply(uid);
    }

    /** A pod begins to hold its share, which is frozen here. */
    PodStay begin(
            PodFacts pod,
            String node,
            Begin begin,
            BoundShare held,
            NodeFacts facts,
            Weight weight,
            boolean watched) {
        var identity = new Identity(pod.uid(), pod.namespace(), pod.name(), pod.owner(), node);
        return begin(identity, begin, held, facts, weight, watched, false);
    }

    /** A first pod begins to hold what was allocated to a claim. */
    PodStay begin(
            UUID id,
            Allocation allocated,
            PodStay holder,
            Begin begin,
            NodeFacts facts,
            Weight weight) {
        var identity =
                new Identity(
                        id,
                        holder.namespace(),
                        allocated.claim(),
                        new Owner("ResourceClaim", allocated.claim(), ""),
                        holder.node());
        BoundShare held = HeldShare.limited(allocated.share());
        return begin(identity, begin, held, facts, weight, false, true);
    }

    private record Identity(
            UUID uid, String namespace, String name, @Nullable Owner owner, String node) {}

    private PodStay begin(
            Identity of,
            Begin begin,
            BoundShare held,
            NodeFacts facts,
            Weight weight,
            boolean watched,
            boolean allocation) {
        Instant start = begin.at().isBefore(meteringStart) ? meteringStart : begin.at();
        List<Tariff> history = history(of.namespace(), start);
        Tariff first = history.getFirst();
        var frozen = new Held(held.share(), held.memoryKnown(), true);
        PodStay stay =
                new PodStay(
                        of.uid(),
                        of.namespace(),
                        of.name(),
                        of.owner(),
                        of.node(),
                        first.budget(),
                        Price.of(frozen, first.rule().on(facts), weight),
                        frozen,
                        start,
                        begin.estimated() && start.equals(begin.at()),
                        start,
                        start,
                        null,
                        false,
                        null,
                        new Metering(watched, allocation, allocation ? null : byUse(first, start)));
        for (Tariff next : history.subList(1, history.size())) {
            stay = post(stay, next.since());
            stay =
                    stay.on(
                            next.budget(),
                            stay.priced(next.rule(), facts),
                            allocation ? null : byUse(next, stay.postedUntil()));
        }
        return put(stay);
    }

    /** From now on the allocation ends no earlier than the pod does. */
    void join(UUID allocation, UUID pod) {
        joined.add(new Holder(allocation, pod));
    }

    /** The pods that hold an allocation, or did. */
    Stream<UUID> holders(UUID allocation) {
        return Stream.concat(
                before.pods(allocation),
                joined.stream().filter(it -> it.allocation().equals(allocation)).map(Holder::pod));
    }

    /** What a pod holds, or held, beside others. */
    Stream<UUID> allocations(UUID pod) {
        return Stream.concat(
                before.allocations(pod),
                joined.stream().filter(it -> it.pod().equals(pod)).map(Holder::allocation));
    }

    /** Nothing was measured yet of a stay that begins. */
    private static @Nullable ByUse byUse(Tariff tariff, Instant since) {
        return tariff.byUse() ? new ByUse(since, 0, 0, null) : null;
    }

    /**
     * The terms change from where the stay is posted.
     *
     * @param measured what had been measured by then
     */
    void reprice(PodStay stay, String budget, Price price, @Nullable ByUse measured) {
        put(now(stay).on(budget, price, measured));
    }

    /** From now on the watch tells of the pod, or only the sweep finds it. */
    void watch(PodStay stay, boolean watched) {
        put(now(stay).watched(watched));
    }

    /**
     * What was measured differs from what was charged.
     *
     * @param difference in the stay's last entries; null if there is none worth an entry
     */
    void settle(PodStay stay, @Nullable Entry difference, Instant mark) {
        if (difference != null) {
            corrections.add(new Correction(difference, "measured by the node agent"));
        }
        put(stay.settled(mark));
    }

    /** The pod was taken for gone, but is there. */
    void reopen(PodStay stay) {
        put(stay.reopened());
    }

    /** The stay as it is in this draft. */
    PodStay now(PodStay stay) {
        PodStay drafted = changed.get(stay.uid());
        return drafted == null ? stay : drafted;
    }

    /** The stays that begin in this draft. */
    List<PodStay> begun() {
        return changed.values().stream().filter(stay -> book.apply(stay.uid()) == null).toList();
    }

    /** What an open stay has cost up to an instant becomes entries. */
    void postUntil(PodStay stay, Instant to) {
        if (stay.postedUntil().isBefore(to)) {
            put(post(stay, to));
        }
    }

    /**
     * The stay has ended, or its end turns out to be another.
     *
     * @param bound upper bound of an estimated end
     * @param posted all entries of the pod that reach beyond the end, as far as they are committed
     */
    void end(PodStay stay, Ended end, @Nullable Instant bound, Collection<Entry> posted) {
        Instant to = end.to().isBefore(stay.from()) ? stay.from() : end.to();
        boolean known = to.equals(stay.until()) && end.estimated() == stay.estimated();
        if (known) {
            return;
        }
        PodStay settled = stay.reopened();
        if (to.isBefore(stay.postedUntil())) {
            read.add(new Read(stay.uid(), end.to(), posted.size()));
            takeBack(stay.uid(), to, posted);
            settled = settled.posted(to).settled(null);
        } else {
            settled = post(settled, to);
        }
        put(settled.ended(to, end.estimated(), bound));
    }

    Posting posting(Heard heard) {
        List<Move> moves =
                changed.values().stream()
                        .map(after -> new Move(book.apply(after.uid()), after))
                        .toList();
        return new Posting(moves, joined, charges, corrections, read, heard);
    }

    private PodStay put(PodStay stay) {
        changed.put(stay.uid(), stay);
        return stay;
    }

    private PodStay post(PodStay stay, Instant to) {
        Instant from = stay.postedUntil();
        while (from.isBefore(to)) {
            Instant cut = cut(stay, from, to);
            if (stay.rate() > 0) {
                Entry entry =
                        new Entry(
                                stay.uid(),
                                stay.namespace(),
                                stay.budget(),
                                from,
                                cut,
                                stay.rate());
                if (from.isBefore(stay.chargedUntil())) {
                    corrections.add(new Correction(entry, "the pod was still there"));
                } else {
                    charges.add(entry);
                }
            }
            from = cut;
        }
        return stay.posted(from);
    }

    private Instant cut(PodStay stay, Instant from, Instant to) {
        Instant cut = earlier(to, Entry.hourAfter(from));
        Instant ofBudget = tariffs.cutAfter(stay.budget(), from);
        if (ofBudget != null) {
            cut = earlier(cut, ofBudget);
        }
        return from.isBefore(stay.chargedUntil()) ? earlier(cut, stay.chargedUntil()) : cut;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /** Every entry beyond the end, also one that is itself a correction, gets its opposite. */
    private void takeBack(UUID pod, Instant end, Collection<Entry> committed) {
        List<Entry> posted =
                Stream.of(
                                committed.stream(),
                                charges.stream(),
                                corrections.stream().map(Correction::entry))
                        .flatMap(Function.identity())
                        .toList();
        for (Entry entry : posted) {
            if (entry.pod().equals(pod) && entry.to().isAfter(end)) {
                Instant from = entry.from().isBefore(end) ? end : entry.from();
                corrections.add(
                        new Correction(
                                new Entry(
                                        entry.pod(),
                                        entry.namespace(),
                                        entry.budget(),
                                        from,
                                        entry.to(),
                                        -entry.rate()),
                                "the pod had ended at " + end));
            }
        }
    }

    /** Who paid from {@code from} on, oldest first. */
    private List<Tariff> history(String namespace, Instant from) {
        var history = new ArrayList<Tariff>();
        Tariff tariff = tariffs.of(namespace);
        history.add(tariff);
        while (tariff.since().isAfter(from)) {
            Tariff earlier = tariff.previous();
            if (earlier.sameTerms(tariff)) {
                history.removeFirst();
            }
            tariff = earlier;
            history.addFirst(tariff);
        }
        return history;
    }
}
