package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.RateRule;
import io.gpusharing.budget.ShareRule;
import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.Weight;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A pod's allocation: what it holds, since when, who pays, and how far that is posted. Devices of a
 * claim that several pods may hold have one of their own.
 *
 * @param budget who pays; {@link Payer#NOBODY} if no budget names the namespace
 * @param price what is charged for it, each second
 * @param held what it holds, frozen when it was bound; whether memory was known is all that its row
 *     keeps of what was missing
 * @param from first instant that is charged
 * @param beginEstimated whether that is an estimate
 * @param postedUntil the allocation's entries reach up to here
 * @param chargedUntil the furthest that {@code postedUntil} has ever been; what is charged again
 *     below it is a correction
 * @param until end of the allocation; null while it is open
 * @param estimated whether the end is an estimate
 * @param endBound an estimated end lies between {@code until} and this
 * @param metering how it is followed and measured
 */
public record PodAllocation(
        UUID uid,
        String namespace,
        String name,
        @Nullable Owner owner,
        String node,
        String budget,
        Price price,
        BoundShare held,
        Instant from,
        boolean beginEstimated,
        Instant postedUntil,
        Instant chargedUntil,
        @Nullable Instant until,
        boolean estimated,
        @Nullable Instant endBound,
        Metering metering) {

    /**
     * What a share costs.
     *
     * @param share micro-GPUs that the budget's rule makes of it
     * @param weight of the GPU model, frozen when the pod was bound
     * @param rate micro-GPUs that are charged: share times weight, rounded once
     */
    public record Price(long share, Weight weight, long rate) {

        public static Price of(BoundShare held, ShareRule rule, Weight weight) {
            return new Price(
                    rule.rate(held.share()), weight, rule.rate(held.share(), weight.millionths()));
        }
    }

    /**
     * How an allocation is followed and measured.
     *
     * @param watched whether it carries our label, so that the watch reports it; only the sweep
     *     finds the others
     * @param shared whether it is no pod but what was allocated to a claim: it begins with the
     *     first of the pods that hold it and ends with the last
     * @param use since when it is charged by measured use; null if by allocation
     */
    public record Metering(boolean watched, boolean shared, @Nullable ByUse use) {}

    /**
     * A stretch that is charged by measured use. It begins anew when the terms change.
     *
     * @param used what had been measured when it began, in micro-GPU-seconds
     * @param covered and in how much time, in microseconds
     * @param settled up to when entries say what was measured; null if they do not yet
     */
    public record ByUse(Instant since, long used, long covered, @Nullable Instant settled) {}

    /** Micro-GPUs that are charged. */
    public long rate() {
        return price.rate();
    }

    /** Both parts of what it holds. */
    public GpuShare share() {
        return held.share();
    }

    /** False if the node did not say how large its devices are. */
    public boolean shareKnown() {
        return held.memoryKnown();
    }

    /** What it costs by a rule on its node, or on the GPU that it was placed on. */
    public Price priced(RateRule rule, NodeFacts node) {
        return Price.of(held, rule.on(price.weight().on(node)), price.weight());
    }

    /** Whether the pod still holds its share. */
    public boolean open() {
        return until == null;
    }

    /** Whether it is no pod, but what pods hold together. */
    public boolean isShared() {
        return metering.shared();
    }

    /** Whether it is charged by measured use, and not by allocation. */
    public boolean byUse() {
        return metering.use() != null;
    }

    public PodAllocation posted(Instant to) {
        return copy(budget, price, to, until, estimated, endBound, metering);
    }

    /** The same on other terms, from where it is posted on. */
    public PodAllocation on(String payer, Price newPrice, @Nullable ByUse use) {
        return copy(
                payer,
                newPrice,
                postedUntil,
                until,
                estimated,
                endBound,
                new Metering(metering.watched(), metering.shared(), use));
    }

    /** The same, of what it turned out to hold; what that costs is to follow. */
    public PodAllocation holding(BoundShare what) {
        return new PodAllocation(
                uid,
                namespace,
                name,
                owner,
                node,
                budget,
                price,
                new BoundShare(what.share(), what.memoryKnown()),
                from,
                beginEstimated,
                postedUntil,
                chargedUntil,
                until,
                estimated,
                endBound,
                metering);
    }

    public PodAllocation ended(Instant at, boolean estimate, @Nullable Instant bound) {
        return copy(budget, price, postedUntil, at, estimate, bound, metering);
    }

    public PodAllocation reopened() {
        return copy(budget, price, postedUntil, null, false, null, metering);
    }

    /** From now on the watch reports it, or only the sweep finds it. */
    public PodAllocation watched(boolean watched) {
        return copy(
                budget,
                price,
                postedUntil,
                until,
                estimated,
                endBound,
                new Metering(watched, metering.shared(), metering.use()));
    }

    /** Entries say what was measured until then; null if they do not any more. */
    public PodAllocation settled(@Nullable Instant at) {
        ByUse use = metering.use();
        return use == null
                ? this
                : copy(
                        budget,
                        price,
                        postedUntil,
                        until,
                        estimated,
                        endBound,
                        new Metering(
                                metering.watched(),
                                metering.shared(),
                                new ByUse(use.since(), use.used(), use.covered(), at)));
    }

    private PodAllocation copy(
            String payer,
            Price newPrice,
            Instant posted,
            @Nullable Instant end,
            boolean estimate,
            @Nullable Instant bound,
            Metering how) {
        Instant furthest = posted.isAfter(chargedUntil) ? posted : chargedUntil;
        return new PodAllocation(
                uid,
                namespace,
                name,
                owner,
                node,
                payer,
                newPrice,
                held,
                from,
                beginEstimated,
                posted,
                furthest,
                end,
                estimate,
                bound,
                how);
    }
}
