package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.Payer;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.Price;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.posting.PodDevices.Devices;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Brings the open allocations to the terms that hold now, after budgets have changed: another
 * budget may pay, or at another rate, or by measured use.
 */
final class Repricing {

    /** More changes of one namespace than an outage sees. */
    private static final int MOST_STEPS = 1_000;

    private final OpenAllocations allocations;
    private final RateSource rates;
    private final Settlement settlement;
    private final ClusterView view;

    Repricing(
            OpenAllocations allocations,
            RateSource rates,
            Settlement settlement,
            ClusterView view) {
        this.allocations = allocations;
        this.rates = rates;
        this.settlement = settlement;
        this.view = view;
    }

    /** Other terms for an open allocation, or what it holds, from an instant on. */
    private record Change(UUID uid, Payer payer, BoundShare held, Price price, Instant since) {}

    /**
     * Puts open allocations on the price of the GPUs on which they turn out to be, from where they
     * are posted on: what is posted stays. Where measured use counts, which was compared with the
     * other price, that is settled first, and it is from now on.
     *
     * @param found those on the terms that hold now
     */
    void refine(Map<UUID, Devices> found, Instant now) {
        if (found.isEmpty()) {
            return;
        }
        List<Change> changes =
                found.entrySet().stream()
                        .map(it ->
                                refined(
                                        Objects.requireNonNull(allocations.get(it.getKey())),
                                        it.getValue(),
                                        now))
                        .toList();
        reprice(changes, now);
    }

    private Change refined(PodAllocation allocation, Devices devices, Instant now) {
        Payer payer = rates.of(allocation.namespace());
        Weight weight = devices.weight();
        NodeFacts node = weight.on(view.node(allocation.node()).orElse(NodeFacts.UNKNOWN));
        return new Change(
                allocation.uid(),
                payer,
                devices.held(),
                Price.of(devices.held(), payer.rule().on(node), weight),
                allocation.byUse() ? now : allocation.postedUntil());
    }

    /**
     * Posts what the changed allocations cost on their old terms, and puts them on the new ones.
     *
     * @param open those to look at
     * @param now up to when measured use is settled on the old terms, and from when on terms hold
     *     that were changed while nobody ran
     */
    void reprice(Collection<PodAllocation> open, Instant now) {
        List<Change> changes = changes(open, now);
        // Terms may have changed more than once while the database was away.
        for (int step = 0; !changes.isEmpty() && step < MOST_STEPS; step++) {
            reprice(changes, now);
            changes = changes(changes.stream().map(this::committed).toList(), now);
        }
    }

    private List<Change> changes(Collection<PodAllocation> of, Instant now) {
        return of.stream().flatMap(allocation -> change(allocation, now)).toList();
    }

    private void reprice(List<Change> changes, Instant now) {
        PostingBuilder old = allocations.builder();
        changes.forEach(it -> old.chargeUntil(committed(it), it.since()));
        allocations.commit(old);
        Map<UUID, Measured> measured =
                settlement.measured(
                        changes.stream()
                                .filter(it ->
                                        committed(it).byUse() || it.payer().isByUse(committed(it)))
                                .map(this::committed)
                                .toList());
        settlement.settle(
                allocations,
                changes.stream().map(this::committed).filter(PodAllocation::byUse).toList(),
                measured,
                now);
        PostingBuilder builder = allocations.builder();
        for (Change it : changes) {
            builder.reprice(
                    committed(it).holding(it.held()),
                    it.payer(),
                    it.price(),
                    measured.get(it.uid()));
        }
        allocations.commit(builder);
    }

    /** The next change of an allocation's terms. */
    private Stream<Change> change(PodAllocation allocation, Instant now) {
        return toCome(allocation).stream()
                .flatMap(payer -> change(allocation, payer, now))
                .limit(1);
    }

    /**
     * Who pays, or paid, from where the allocation is posted on; oldest first, at least who pays
     * now.
     */
    private List<Payer> toCome(PodAllocation allocation) {
        var payers = new ArrayDeque<Payer>();
        Payer payer = rates.of(allocation.namespace());
        payers.add(payer);
        while (payer.since().isAfter(allocation.postedUntil())) {
            payer = payer.previous();
            payers.addFirst(payer);
        }
        // Its beginning is charged already, to whom it was known to be due.
        if (payers.size() > 1 && payer.since().isBefore(allocation.postedUntil())) {
            payers.removeFirst();
        }
        return List.copyOf(payers);
    }

    private Stream<Change> change(PodAllocation allocation, Payer payer, Instant now) {
        NodeFacts node =
                allocation
                        .price()
                        .weight()
                        .on(view.node(allocation.node()).orElse(NodeFacts.UNKNOWN));
        Price price = allocation.priced(payer.rule(), node);
        boolean same =
                payer.budget().equals(allocation.budget())
                        && (costsTheSame(price, allocation) || tellsNothing(node, payer))
                        && payer.isByUse(allocation) == allocation.byUse();
        return same
                ? Stream.empty()
                : Stream.of(
                        new Change(
                                allocation.uid(),
                                payer,
                                allocation.held(),
                                price,
                                since(allocation, payer, now)));
    }

    private static boolean costsTheSame(Price price, PodAllocation allocation) {
        return price.share() == allocation.price().share() && price.rate() == allocation.rate();
    }

    /**
     * What was changed while nobody ran holds from when it is seen; it would else reach back to
     * where the allocation happens to be posted, and take time from who has paid for it.
     */
    private static Instant since(PodAllocation allocation, Payer payer, Instant now) {
        boolean paid = !allocation.budget().equals(Payer.NOBODY);
        return paid && payer.since().isBefore(allocation.postedUntil()) ? now : payer.since();
    }

    /**
     * A node that is gone, or whose device plugin is just restarting, changes nothing. Whoever has
     * run for long remembers what it reported; who has just started must not forget it.
     */
    private static boolean tellsNothing(NodeFacts node, Payer payer) {
        return payer.rule().reference() != null
                && node.capacity().values().stream().allMatch(Quantity::isZero);
    }

    private PodAllocation committed(Change change) {
        return Objects.requireNonNull(allocations.get(change.uid()));
    }
}
