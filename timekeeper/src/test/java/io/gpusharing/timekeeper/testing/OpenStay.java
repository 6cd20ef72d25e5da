package io.gpusharing.timekeeper.testing;

import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.ledger.PodStay;
import io.gpusharing.timekeeper.metering.Weight;
import java.time.Instant;
import java.util.UUID;

/** Stays of pods that run on, charged by allocation on GPUs of the reference model. */
public final class OpenStay {

    private OpenStay() {}

    /** A pod that begins, of which nothing is posted yet. */
    public static PodStay of(
            String namespace, String budget, long rate, GpuShare share, Instant since) {
        return new PodStay(
                UUID.randomUUID(),
                namespace,
                "p",
                null,
                Pods.NODE,
                budget,
                new PodStay.Price(rate, Weight.ONE, rate),
                new PodStay.Held(share, true, true),
                since,
                false,
                since,
                since,
                null,
                false,
                null,
                new PodStay.Metering(true, false, null));
    }
}
