package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.allocation.Claimed.ClaimAllocation;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodFacts.Owner;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.PodAllocation.Metering;
import io.gpusharing.timekeeper.ledger.PodAllocation.Price;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.AllocationChange;
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

    private final Function<UUID, @Nullable PodAllocation> committed;
    private final Holders before;
    private final List<Holder> joined = new ArrayList<>();
    private final RateSource rates;
    private final PodCharger charger;
    private final Instant chargedFrom;
    private final Map<UUID, PodAllocation> changed = new LinkedHashMap<>();
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
        this.charger = new PodCharger(rates);
        this.chargedFrom = chargedFrom;
    }

    /** How many rows it writes to the table of which it writes most. */
    int size() {
        return Math.max(changed.size(), charger.charges().size() + charger.corrections().size());
    }

    @Nullable PodAllocation allocation(UUID uid) {
        PodAllocation drafted = changed.get(uid);
        return drafted != null ? drafted : committed.apply(uid);
    }

    /**
     * A pod begins to hold its share, which is frozen here.
     *
     * @param until its end, if that is known already: who paid from then on did not for this pod
     */
    PodAllocation begin(
            PodFacts pod,
            String node,
            Begin begin,
            Instant until,
            BoundShare held,
            NodeFacts facts,
            Weight weight,
            boolean watched) {
        var identity = new Identity(pod.uid(), pod.namespace(), pod.name(), pod.owner(), node);
        return begin(identity, begin, until, held, facts, weight, watched, false);
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
        BoundShare held = PodFacts.limited(allocated.share());
        return begin(identity, begin, Instant.MAX, held, facts, weight, false, true);
    }

    private record Identity(
            UUID uid, String namespace, String name, @Nullable Owner owner, String node) {}

    private PodAllocation begin(
            Identity of,
            Begin begin,
            Instant until,
            BoundShare held,
            NodeFacts facts,
            Weight weight,
            boolean watched,
            boolean shared) {
        Instant start = begin.at().isBefore(chargedFrom) ? chargedFrom : begin.at();
        PodAllocation allocation =
                new PodAllocation(
                        of.uid(),
                        of.namespace(),
                        of.name(),
                        of.owner(),
                        of.node(),
                        Payer.NOBODY,
                        new Price(0, weight, 0),
                        new BoundShare(held.share(), held.memoryKnown()),
                        start,
                        begin.estimated() && start.equals(begin.at()),
                        start,
                        start,
                        null,
                        false,
                        null,
                        new Metering(watched, shared, null));
        for (Payer payer : history(of.namespace(), start)) {
            if (payer.since().isAfter(start) && !payer.since().isBefore(until)) {
                break;
            }
            allocation = charger.charge(allocation, payer.since());
            // Nothing was measured yet of an allocation that begins.
            allocation = on(payer, allocation, allocation.priced(payer.rule(), facts), null);
        }
        return put(allocation);
    }

    private static PodAllocation on(
            Payer payer, PodAllocation allocation, Price price, @Nullable Measured measured) {
        ByUse use = payer.isByUse(allocation) ? Settlement.stretch(allocation, measured) : null;
        return allocation.on(payer.budget(), price, use);
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

    /**
     * The terms change from where the allocation is posted.
     *
     * @param measured what had been measured by then; null if nothing
     */
    void reprice(PodAllocation allocation, Payer payer, Price price, @Nullable Measured measured) {
        put(on(payer, now(allocation), price, measured));
    }

    /** From now on the watch reports the pod, or only the sweep finds it. */
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
            charger.correct(difference, "measured by the node agent");
        }
        put(allocation.settled(mark));
    }

    /** The pod was taken for gone, but is there. */
    void reopen(PodAllocation allocation) {
        put(allocation.reopened());
    }

    /**
     * The allocation as this builder has it, or as it is committed: whoever holds it may have read
     * it before a posting that was committed in parts.
     */
    PodAllocation now(PodAllocation allocation) {
        PodAllocation known = allocation(allocation.uid());
        return known == null ? allocation : known;
    }

    /** The allocations that begin in this builder. */
    List<PodAllocation> begun() {
        return changed.values().stream()
                .filter(allocation -> committed.apply(allocation.uid()) == null)
                .toList();
    }

    /** What an open allocation has cost up to an instant becomes entries. */
    void chargeUntil(PodAllocation allocation, Instant to) {
        if (allocation.postedUntil().isBefore(to)) {
            put(charger.charge(allocation, to));
        }
    }

    /**
     * The allocation has ended, or its end turns out to be another.
     *
     * @param posted all entries of the pod that reach beyond the end, as far as they are committed
     */
    public void end(PodAllocation allocation, Ended end, Collection<Entry> posted) {
        Instant to = end.to().isBefore(allocation.from()) ? allocation.from() : end.to();
        boolean known = to.equals(allocation.until()) && end.estimated() == allocation.estimated();
        if (known) {
            return;
        }
        PodAllocation settled = allocation.reopened();
        if (to.isBefore(allocation.postedUntil())) {
            read.add(new Read(allocation.uid(), end.to(), posted.size()));
            charger.takeBack(allocation.uid(), to, posted);
            settled = settled.posted(to).settled(null);
        } else {
            settled = charger.charge(settled, to);
        }
        put(settled.ended(to, end.estimated(), end.bound()));
    }

    public Posting posting(FeedPosition position) {
        List<AllocationChange> changes =
                changed.values().stream()
                        .map(after -> new AllocationChange(committed.apply(after.uid()), after))
                        .toList();
        return new Posting(
                changes, joined, charger.charges(), charger.corrections(), read, position);
    }

    private PodAllocation put(PodAllocation allocation) {
        changed.put(allocation.uid(), allocation);
        return allocation;
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
