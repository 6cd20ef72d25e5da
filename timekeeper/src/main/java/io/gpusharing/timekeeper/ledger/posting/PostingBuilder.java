package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.allocation.Claimed.ClaimAllocation;
import io.gpusharing.timekeeper.allocation.HeldShare;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodFacts.Owner;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.PodAllocation.Held;
import io.gpusharing.timekeeper.ledger.PodAllocation.Metering;
import io.gpusharing.timekeeper.ledger.PodAllocation.Price;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
import io.gpusharing.timekeeper.ledger.Posting.Correction;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.Posting.Read;
import io.gpusharing.timekeeper.ledger.RateSource;
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
 * A posting in the making: changed allocations and the entries that follow from them. It touches
 * nothing outside itself until it is committed.
 */
public final class PostingBuilder {

    /** Entries beyond which a builder is large: some tens of megabytes. */
    private static final int LARGE = 50_000;

    private final Function<UUID, @Nullable PodAllocation> committed;
    private final Holders before;
    private final List<Holder> joined = new ArrayList<>();
    private final RateSource rates;
    private final Instant chargedFrom;
    private final Map<UUID, PodAllocation> changed = new LinkedHashMap<>();
    private final List<Entry> charges = new ArrayList<>();
    private final List<Correction> corrections = new ArrayList<>();
    private final List<Read> read = new ArrayList<>();

    /**
     * @param committed the allocations as they are committed
     * @param before who holds allocations, as it is committed
     * @param chargedFrom nothing before is charged
     */
    public PostingBuilder(
            Function<UUID, @Nullable PodAllocation> committed,
            Holders before,
            RateSource rates,
            Instant chargedFrom) {
        this.committed = committed;
        this.before = before;
        this.rates = rates;
        this.chargedFrom = chargedFrom;
    }

    /** Whether it should be committed before it grows further. */
    boolean isLarge() {
        return charges.size() + corrections.size() >= LARGE;
    }

    @Nullable PodAllocation allocation(UUID uid) {
        PodAllocation drafted = changed.get(uid);
        return drafted != null ? drafted : committed.apply(uid);
    }

    /** A pod begins to hold its share, which is frozen here. */
    PodAllocation begin(
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
    PodAllocation begin(
            UUID id,
            ClaimAllocation allocated,
            PodAllocation holder,
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

    private PodAllocation begin(
            Identity of,
            Begin begin,
            BoundShare held,
            NodeFacts facts,
            Weight weight,
            boolean watched,
            boolean shared) {
        Instant start = begin.at().isBefore(chargedFrom) ? chargedFrom : begin.at();
        List<Payer> history = history(of.namespace(), start);
        Payer first = history.getFirst();
        var frozen = new Held(held.share(), held.memoryKnown());
        PodAllocation allocation =
                new PodAllocation(
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
                        new Metering(watched, shared, shared ? null : byUse(first, start)));
        for (Payer next : history.subList(1, history.size())) {
            allocation = post(allocation, next.since());
            allocation =
                    allocation.on(
                            next.budget(),
                            allocation.priced(next.rule(), facts),
                            shared ? null : byUse(next, allocation.postedUntil()));
        }
        return put(allocation);
    }

    /** From now on the allocation ends no earlier than the pod does. */
    void join(UUID claim, UUID pod) {
        joined.add(new Holder(claim, pod));
    }

    /** The pods that hold an allocation, or did. */
    Stream<UUID> holders(UUID claim) {
        return Stream.concat(
                before.pods(claim),
                joined.stream().filter(it -> it.claim().equals(claim)).map(Holder::pod));
    }

    /** What a pod holds, or held, beside others. */
    Stream<UUID> claims(UUID pod) {
        return Stream.concat(
                before.claims(pod),
                joined.stream().filter(it -> it.pod().equals(pod)).map(Holder::claim));
    }

    /** Nothing was measured yet of an allocation that begins. */
    private static @Nullable ByUse byUse(Payer payer, Instant since) {
        return payer.byUse() ? new ByUse(since, 0, 0, null) : null;
    }

    /**
     * The terms change from where the allocation is posted.
     *
     * @param measured what had been measured by then
     */
    void reprice(PodAllocation allocation, String budget, Price price, @Nullable ByUse measured) {
        put(now(allocation).on(budget, price, measured));
    }

    /** From now on the watch tells of the pod, or only the sweep finds it. */
    void watch(PodAllocation allocation, boolean watched) {
        put(now(allocation).watched(watched));
    }

    /**
     * What was measured differs from what was charged.
     *
     * @param difference in the allocation's last entries; null if there is none worth an entry
     */
    void settle(PodAllocation allocation, @Nullable Entry difference, Instant mark) {
        if (difference != null) {
            corrections.add(new Correction(difference, "measured by the node agent"));
        }
        put(allocation.settled(mark));
    }

    /** The pod was taken for gone, but is there. */
    void reopen(PodAllocation allocation) {
        put(allocation.reopened());
    }

    /** The allocation as this builder has it. */
    PodAllocation now(PodAllocation allocation) {
        PodAllocation drafted = changed.get(allocation.uid());
        return drafted == null ? allocation : drafted;
    }

    /** The allocations that begin in this builder. */
    List<PodAllocation> begun() {
        return changed.values().stream()
                .filter(allocation -> committed.apply(allocation.uid()) == null)
                .toList();
    }

    /** What an open allocation has cost up to an instant becomes entries. */
    void postUntil(PodAllocation allocation, Instant to) {
        if (allocation.postedUntil().isBefore(to)) {
            put(post(allocation, to));
        }
    }

    /**
     * The allocation has ended, or its end turns out to be another.
     *
     * @param bound upper bound of an estimated end
     * @param posted all entries of the pod that reach beyond the end, as far as they are committed
     */
    public void end(
            PodAllocation allocation,
            Ended end,
            @Nullable Instant bound,
            Collection<Entry> posted) {
        Instant to = end.to().isBefore(allocation.from()) ? allocation.from() : end.to();
        boolean known = to.equals(allocation.until()) && end.estimated() == allocation.estimated();
        if (known) {
            return;
        }
        PodAllocation settled = allocation.reopened();
        if (to.isBefore(allocation.postedUntil())) {
            read.add(new Read(allocation.uid(), end.to(), posted.size()));
            takeBack(allocation.uid(), to, posted);
            settled = settled.posted(to).settled(null);
        } else {
            settled = post(settled, to);
        }
        put(settled.ended(to, end.estimated(), bound));
    }

    public Posting posting(FeedPosition heard) {
        List<AllocationChange> changes =
                changed.values().stream()
                        .map(after -> new AllocationChange(committed.apply(after.uid()), after))
                        .toList();
        return new Posting(changes, joined, charges, corrections, read, heard);
    }

    private PodAllocation put(PodAllocation allocation) {
        changed.put(allocation.uid(), allocation);
        return allocation;
    }

    private PodAllocation post(PodAllocation allocation, Instant to) {
        Instant from = allocation.postedUntil();
        while (from.isBefore(to)) {
            Instant cut = cut(allocation, from, to);
            if (allocation.rate() > 0) {
                Entry entry =
                        new Entry(
                                allocation.uid(),
                                allocation.namespace(),
                                allocation.budget(),
                                from,
                                cut,
                                allocation.rate());
                if (from.isBefore(allocation.chargedUntil())) {
                    corrections.add(new Correction(entry, "the pod was still there"));
                } else {
                    charges.add(entry);
                }
            }
            from = cut;
        }
        return allocation.posted(from);
    }

    private Instant cut(PodAllocation allocation, Instant from, Instant to) {
        Instant cut = earlier(to, Entry.hourAfter(from));
        Instant ofBudget = rates.cutAfter(allocation.budget(), from);
        if (ofBudget != null) {
            cut = earlier(cut, ofBudget);
        }
        return from.isBefore(allocation.chargedUntil())
                ? earlier(cut, allocation.chargedUntil())
                : cut;
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
    private List<Payer> history(String namespace, Instant from) {
        var history = new ArrayList<Payer>();
        Payer payer = rates.of(namespace);
        history.add(payer);
        while (payer.since().isAfter(from)) {
            Payer earlier = payer.previous();
            if (earlier.sameTerms(payer)) {
                history.removeFirst();
            }
            payer = earlier;
            history.addFirst(payer);
        }
        return history;
    }
}
