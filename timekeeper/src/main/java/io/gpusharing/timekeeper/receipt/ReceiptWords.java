package io.gpusharing.timekeeper.receipt;

import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.timekeeper.receipt.EvictionReceipts.Pod;
import org.jspecify.annotations.Nullable;

/** What became of a victim and of its eviction, in words. */
record ReceiptWords(Eviction eviction, EvictionVictim victim) {

    /** As {@link EvictionReceipts.Receipt#result} lists them. */
    String result() {
        Result result = victim.result();
        if (result != null) {
            return result.name();
        }
        // Nobody was asked about it, and nobody will be.
        return eviction.phase == Phase.NotDone ? Result.Spared.name() : "Planned";
    }

    @Nullable String resultDetail() {
        if (!victim.resultDetail().isEmpty()) {
            return victim.resultDetail();
        }
        return (eviction.phase != Phase.NotDone || eviction.reason.isEmpty())
                ? null
                : eviction.reason;
    }

    /** Null while that is open, and without a waiter. */
    @Nullable Boolean helped() {
        if (eviction.waiter == null) {
            return null;
        }
        return (remained() || eviction.phase == Phase.NotDone) ? Boolean.FALSE : eviction.helped;
    }

    /** What became of the waiter, where that is known. */
    String outcome() {
        if (remained()) {
            return "it was not evicted";
        }
        return eviction.phase == Phase.NotDone ? "nobody was evicted" : eviction.outcome;
    }

    private boolean remained() {
        return victim.result() != null && victim.result().remained();
    }

    /** Who went, from where, for whom and why. */
    String because() {
        String who =
                "%s/%s of budget %s".formatted(victim.namespace(), victim.name(), victim.budget());
        return switch (eviction.cause) {
            case Reclaim ->
                    "%s, which was over its time, %s on %s%s: %s"
                            .formatted(
                                    who,
                                    did("made room", "make room"),
                                    eviction.node,
                                    forWhom(),
                                    victim.reason());
            case Preemption ->
                    "%s %s by kube-scheduler on %s%s: %s"
                            .formatted(
                                    who,
                                    did("was preempted", "be preempted"),
                                    eviction.node,
                                    forWhom(),
                                    victim.reason());
            case RefusedStart ->
                    "%s %s %s, because %s"
                            .formatted(who, wasEvicted(), eviction.node, victim.reason());
            case MemoryOveruse ->
                    "%s %s %s: it %s".formatted(who, wasEvicted(), eviction.node, victim.reason());
        };
    }

    private String wasEvicted() {
        return did("was evicted from", "be evicted from");
    }

    private String did(String done, String planned) {
        return switch (victim.result()) {
            case Evicted, Deleted, Preempted -> done;
            case Gone -> "had gone already when it was to " + planned;
            case Refused, Spared -> "was to " + planned;
            case null -> "was to " + planned;
        };
    }

    private String forWhom() {
        Pod waiter = eviction.waiter;
        if (waiter == null) {
            return "";
        }
        return " for %s/%s of budget %s%s"
                .formatted(
                        waiter.namespace(),
                        waiter.name(),
                        waiter.budget(),
                        eviction.waiterSince == null
                                ? ""
                                : ", which had waited since " + eviction.waiterSince);
    }
}
