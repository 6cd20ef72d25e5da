package io.gpusharing.timekeeper.testing;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.time.Instant;
import java.util.UUID;

/** Allocations of pods that run on, charged by allocation on GPUs of the reference model. */
public final class OpenAllocation {

    private OpenAllocation() {}

    /** A pod that begins, of which nothing is posted yet. */
    public static PodAllocation of(
            String namespace, String budget, long rate, GpuShare share, Instant since) {
        return new PodAllocation(
                UUID.randomUUID(),
                namespace,
                "p",
                null,
                Pods.NODE,
                budget,
                new PodAllocation.Price(rate, Weight.ONE, rate),
                new BoundShare(share, true),
                since,
                false,
                since,
                since,
                null,
                false,
                null,
                new PodAllocation.Metering(true, false, null));
    }
}
