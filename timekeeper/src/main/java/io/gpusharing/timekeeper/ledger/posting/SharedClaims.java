package io.gpusharing.timekeeper.ledger.posting;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.kubernetes.Claimed.ClaimAllocation;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Begin;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Devices of a claim that several pods may hold. They are charged once: the allocation begins with
 * the first of the pods and ends with the last.
 */
final class SharedClaims {

    private final OpenAllocations allocations;

    SharedClaims(OpenAllocations allocations) {
        this.allocations = allocations;
    }

    /** The order in which pods have to begin: a shared allocation begins with the first. */
    static List<PodFacts> inOrder(List<PodFacts> pods) {
        return pods.stream().allMatch(pod -> pod.claimed().shared().isEmpty())
                ? pods
                : pods.stream().sorted(Comparator.comparing(SharedClaims::bound)).toList();
    }

    private static Instant bound(PodFacts pod) {
        Instant scheduled = pod.lifecycle().scheduled();
        return scheduled == null ? pod.lifecycle().created() : scheduled;
    }

    /** The pod begins to hold what others may hold, too. */
    void join(
            PostingBuilder builder,
            PodAllocation pod,
            ClaimAllocation allocated,
            Begin begin,
            Weight weight) {
        UUID id = allocated.id();
        PodAllocation known = allocation(builder, id);
        while (known != null && known.until() != null && known.until().isBefore(pod.from())) {
            // Nobody held it meanwhile: what follows is an allocation of its own, for all who
            // hold it then.
            id = successor(id);
            known = allocation(builder, id);
        }
        if (known == null) {
            builder.begin(id, allocated, pod, begin, weight);
        } else if (pod.from().isBefore(known.from())) {
            // The events of a pod that began earlier came later.
            UUID before = derived(id, pod.uid().toString());
            PodAllocation earlier = builder.begin(before, allocated, pod, begin, weight);
            builder.end(earlier, new Ended(begin, known.from(), false, null), List.of());
        }
        builder.join(id, pod.uid());
        update(builder, id);
    }

    private static UUID successor(UUID claim) {
        return derived(claim, "");
    }

    private static UUID derived(UUID claim, String what) {
        return UUID.nameUUIDFromBytes((claim + "/" + what).getBytes(UTF_8));
    }

    /** A pod has ended or is there again: what it holds with others may have, too. */
    void holderChanged(PostingBuilder builder, UUID pod) {
        builder.claims(pod).toList().forEach(claim -> update(builder, claim));
    }

    /**
     * An allocation is held as long as any of its pods does. A pod that turns out to hold it still
     * when the one after it had begun holds that one.
     */
    private void update(PostingBuilder builder, UUID claim) {
        PodAllocation shared = allocation(builder, claim);
        List<PodAllocation> holders =
                // To remember a pod adds to the holders.
                builder.holders(claim).toList().stream()
                        .map(pod -> allocation(builder, pod))
                        .filter(Objects::nonNull)
                        .toList();
        if (shared == null || holders.isEmpty()) {
            return;
        }
        PodAllocation next = allocation(builder, successor(claim));
        if (next != null && holders.stream().anyMatch(it -> isHeldAt(it, next.from()))) {
            passOn(builder, shared, holders, next);
        } else if (holders.stream().noneMatch(PodAllocation::open)) {
            PodAllocation last = Collections.max(holders, Comparator.comparing(SharedClaims::end));
            var ended = new Ended(shared.from(), end(last), last.estimated(), last.endBound());
            allocations.end(builder, shared, ended);
        } else if (!shared.open()) {
            builder.reopen(shared);
        }
    }

    private void passOn(
            PostingBuilder builder,
            PodAllocation shared,
            List<PodAllocation> holders,
            PodAllocation next) {
        allocations.end(builder, shared, new Ended(shared.from(), next.from(), false));
        List<UUID> known = builder.holders(next.uid()).toList();
        holders.stream()
                .filter(it -> isHeldAt(it, next.from()) && !known.contains(it.uid()))
                .forEach(it -> builder.join(next.uid(), it.uid()));
        update(builder, next.uid());
    }

    private static boolean isHeldAt(PodAllocation pod, Instant instant) {
        return pod.until() == null || pod.until().isAfter(instant);
    }

    private static Instant end(PodAllocation allocation) {
        return Objects.requireNonNull(allocation.until());
    }

    /**
     * Of a pod, or of what pods hold together; also if it has ended, and memory does not hold it
     * any more.
     */
    private @Nullable PodAllocation allocation(PostingBuilder builder, UUID uid) {
        if (builder.allocation(uid) == null) {
            allocations.remember(List.of(uid));
        }
        return builder.allocation(uid);
    }
}
