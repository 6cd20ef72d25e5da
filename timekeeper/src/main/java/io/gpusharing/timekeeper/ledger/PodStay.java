package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.metering.PodFacts.Owner;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a pod holds, since when, on whose account, and up to when that is posted.
 *
 * @param budget who pays; {@link Tariff#NOBODY} if no budget names the namespace
 * @param rate micro-GPUs that are charged
 * @param share both parts of what it holds, frozen when it was bound
 * @param shareKnown false if the node did not tell how large its devices are
 * @param from first instant that is charged
 * @param postedUntil up to here the entries tell what it cost
 * @param chargedUntil the furthest that {@code postedUntil} has ever been: below it, whatever is
 *     charged again is a correction
 * @param until end of the stay; null while it is open
 * @param estimated whether the end is an estimate
 * @param endBound an estimated end lies between {@code until} and this
 */
public record PodStay(
        UUID uid,
        String namespace,
        String name,
        @Nullable Owner owner,
        String node,
        String budget,
        long rate,
        GpuShare share,
        boolean shareKnown,
        Instant from,
        Instant postedUntil,
        Instant chargedUntil,
        @Nullable Instant until,
        boolean estimated,
        @Nullable Instant endBound) {

    /** Whether the pod still holds its share. */
    public boolean open() {
        return until == null;
    }

    PodStay posted(Instant to) {
        return copy(budget, rate, to, until, estimated, endBound);
    }

    PodStay on(String payer, long newRate) {
        return copy(payer, newRate, postedUntil, until, estimated, endBound);
    }

    PodStay ended(Instant at, boolean estimate, @Nullable Instant bound) {
        return copy(budget, rate, postedUntil, at, estimate, bound);
    }

    PodStay reopened() {
        return copy(budget, rate, postedUntil, null, false, null);
    }

    private PodStay copy(
            String payer,
            long newRate,
            Instant posted,
            @Nullable Instant end,
            boolean estimate,
            @Nullable Instant bound) {
        Instant furthest = posted.isAfter(chargedUntil) ? posted : chargedUntil;
        return new PodStay(
                uid,
                namespace,
                name,
                owner,
                node,
                payer,
                newRate,
                share,
                shareKnown,
                from,
                posted,
                furthest,
                end,
                estimate,
                bound);
    }
}
