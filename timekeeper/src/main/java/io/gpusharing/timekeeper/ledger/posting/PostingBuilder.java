package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.kubernetes.Claimed.ClaimAllocation;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
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
import java.util.Optional;
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
    private final Function<String, NodeFacts> nodes;
    private final List<Holder> joined = new ArrayList<>();
    private final RateSource rates;
    private final PodCharger charger;
    private final Instant chargedFrom;
    private final Map<UUID, PodAllocation> changed = new LinkedHashMap<>();
    private final List<Read> read = new ArrayList<>();

    /**
     * @param committed the allocations as they are committed
     * @param before who holds allocations, as it is committed
     * @param nodes what is known of a node
     * @param chargedFrom nothing before is charged
     */
    public PostingBuilder(
            Function<UUID, @Nullable PodAllocation> committed,
            Holders before,
            Function<String, NodeFacts> nodes,
            RateSource rates,
            Instant chargedFrom) {
        this.committed = committed;
        this.before = before;
        this.nodes = nodes;
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
            Weight weight,
            boolean watched) {
        var identity = new Identity(pod.uid(), pod.namespace(), pod.name(), pod.owner(), node);
        return begin(identity, begin, until, held, weight, watched, false);
    }

    /** A first pod begins to hold what was allocated to a claim. */
    PodAllocation begin(
            UUID id, ClaimAllocation allocated, PodAllocation holder, Begin begin, Weight weight) {
        var identity =
                new Identity(
                        id,
                        holder.namespace(),
                        allocated.claim(),
                        new Owner("ResourceClaim", allocated.claim(), ""),
                        holder.node());
        BoundShare held = PodFacts.limited(allocated.share());
        return begin(identity, begin, Instant.MAX, held, weight, false, true);
    }

    private record Identity(
            UUID uid, String namespace, String name, @Nullable Owner owner, String node) {}

    private PodAllocation begin(
            Identity of,
            Begin begin,
            Instant until,
            BoundShare held,
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
        Payer first = rates.of(of.namespace()).history(start).getFirst();
        return put(handOn(on(first, allocation), until));
    }

    /**
     * Charges an allocation to each payer in whose time it was held, up to the last of them.
     *
     * @param until its end: who paid from then on did not for this allocation
     */
    private PodAllocation handOn(PodAllocation allocation, Instant until) {
        PodAllocation present = allocation;
        Instant posted = allocation.postedUntil();
        for (Payer payer : rates.of(allocation.namespace()).history(posted)) {
            if (payer.since().isAfter(posted) && payer.since().isBefore(until)) {
                present = on(payer, charger.charge(present, payer.since()));
            }
        }
        return present;
    }

    /** Puts an allocation of which nothing was measured yet on a payer's terms. */
    private PodAllocation on(Payer payer, PodAllocation allocation) {
        NodeFacts node = nodes.apply(allocation.node());
        return on(payer, allocation, allocation.priced(payer.rule(), node), null);
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
        put(on(payer, now(allocation).holding(allocation.held()), price, measured));
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
        put(resumed(allocation.reopened(), Instant.MAX));
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
        if (to.equals(allocation.until()) && end.estimated() == allocation.estimated()) {
            return;
        }
        PodAllocation settled = allocation.reopened();
        if (to.isBefore(allocation.postedUntil())) {
            read.add(new Read(allocation.uid(), end.to(), posted.size()));
            charger.takeBack(allocation.uid(), to, posted);
            settled = settled.posted(to).settled(null);
        } else {
            settled = charger.charge(resumed(settled, to), to);
        }
        boolean further = to.isAfter(allocation.postedUntil());
        put((further ? settled : putBack(settled, posted)).ended(to, end.estimated(), end.bound()));
    }

    /**
     * Hands on an allocation that was posted before, since budgets may have changed while nobody
     * ran or it was taken for ended. One that is charged by measured use stays where it is: it
     * would have to be settled first.
     */
    private PodAllocation resumed(PodAllocation allocation, Instant until) {
        return allocation.byUse() ? allocation : handOn(allocation, until);
    }

    /**
     * Puts an allocation back on the terms of who paid for its last second that is left. An entry
     * that goes beyond it says who that is, else those who paid for the namespace. Payers are
     * forgotten after a week: the allocation stays on its terms then.
     */
    private PodAllocation putBack(PodAllocation allocation, Collection<Entry> posted) {
        Instant end = allocation.postedUntil();
        Instant second = end.minusSeconds(1);
        Instant last = second.isBefore(allocation.from()) ? allocation.from() : second;
        Payer present = rates.of(allocation.namespace());
        Optional<String> charged =
                posted.stream()
                        .filter(it -> it.from().isBefore(end))
                        .map(Entry::budget)
                        .findFirst();
        Optional<Payer> payer =
                charged.isPresent()
                        ? present.history(allocation.from()).reversed().stream()
                                .filter(it -> it.budget().equals(charged.get()))
                                .findFirst()
                        : Optional.of(present.history(last).getFirst())
                                .filter(it -> !it.equals(Payer.FREE));
        return payer.filter(it -> !it.budget().equals(allocation.budget()))
                .map(it -> on(it, allocation))
                .orElse(allocation);
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
}
