package io.gpusharing.timekeeper.receipt;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** {@code GpuEviction} objects as an API server has them; each state has a version of its own. */
final class TestEvictions {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private static final AtomicLong VERSION = new AtomicLong();

    private TestEvictions() {}

    /** One that was made at ten, and of which nobody has said anything. */
    static GpuEviction asked(Cause cause, Victim... victims) {
        return asked(cause, TEN, null, null, victims);
    }

    /** One for a waiter, which has waited for a minute. */
    static GpuEviction asked(Cause cause, Waiter waiter, Victim... victims) {
        return asked(cause, TEN, waiter, null, victims);
    }

    static GpuEviction asked(
            Cause cause,
            Instant createdAt,
            @Nullable Waiter waiter,
            @Nullable Considered considered,
            Victim... victims) {
        String uid = UUID.randomUUID().toString();
        var object = new GpuEviction();
        object.setMetadata(
                new ObjectMetaBuilder()
                        .withName(cause.name().toLowerCase(Locale.ROOT) + "-" + uid)
                        .withUid(uid)
                        .withCreationTimestamp(createdAt.toString())
                        .withResourceVersion(version())
                        .build());
        object.setSpec(
                new Spec(
                        cause.name(),
                        "node-1",
                        List.of(victims),
                        waiter,
                        waiter == null ? null : createdAt.plusSeconds(60).toString(),
                        considered));
        return object;
    }

    static Victim victim(String namespace, String name, @Nullable String budget) {
        return new Victim(
                namespace,
                name,
                UUID.randomUUID().toString(),
                "node-1",
                budget,
                null,
                null,
                "over by 5.000 GPU-minutes",
                null,
                null,
                null);
    }

    static Waiter waiter(String namespace, String name, @Nullable String budget) {
        return new Waiter(
                namespace,
                name,
                UUID.randomUUID().toString(),
                budget,
                "deployment",
                TEN.minusSeconds(60).toString());
    }

    /** The same object a while later. */
    static GpuEviction in(Phase phase, GpuEviction object) {
        return with(object, new Status(phase.name(), TEN.toString(), null, null, null, null));
    }

    /** The same, with this answer for each victim. */
    static GpuEviction in(Phase phase, GpuEviction object, Result result, @Nullable String detail) {
        return with(
                object,
                new Status(
                        phase.name(),
                        TEN.toString(),
                        object.getSpec().victims().stream()
                                .map(it -> new Answer(it.uid(), result.name(), detail))
                                .toList(),
                        null,
                        null,
                        null));
    }

    /** The same, when it is known what became of the waiter. */
    static GpuEviction settled(GpuEviction object, boolean helped, String detail) {
        Status status = Objects.requireNonNull(object.getStatus());
        return with(
                object,
                new Status(
                        status.phase(),
                        status.plannedAt(),
                        status.victims(),
                        status.refusedSince(),
                        status.reason(),
                        new Outcome(helped, detail, TEN.plusSeconds(30).toString())));
    }

    static GpuEviction with(GpuEviction object, Status status) {
        var later = new GpuEviction();
        later.setMetadata(
                new ObjectMetaBuilder(object.getMetadata()).withResourceVersion(version()).build());
        later.setSpec(object.getSpec());
        later.setStatus(status);
        return later;
    }

    private static String version() {
        return String.valueOf(VERSION.incrementAndGet());
    }
}
