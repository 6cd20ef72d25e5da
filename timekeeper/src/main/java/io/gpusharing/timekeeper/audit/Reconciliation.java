package io.gpusharing.timekeeper.audit;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster shows now beside what the ledger holds.
 *
 * @param unmetered pods that hold a GPU and have no open interval: they are charged nothing
 * @param orphaned open intervals whose pods are not there: they are charged too long
 * @param ended open intervals whose pods have ended
 */
record Reconciliation(List<Gap> unmetered, List<Gap> orphaned, List<Gap> ended) {

    /** Events take a while to arrive: what is younger than this is no difference. */
    static final Duration GRACE = Duration.ofSeconds(10);

    /**
     * A difference.
     *
     * @param since since when it costs, or does not
     * @param rate micro-GPUs that are charged wrongly; absent where nobody knows
     * @param amount micro-GPU-seconds so far; absent where nobody knows
     */
    record Gap(
            UUID pod,
            String namespace,
            String name,
            @Nullable String node,
            Instant since,
            @Nullable Long rate,
            @Nullable Long amount) {}

    /**
     * Compares pods with open intervals.
     *
     * @param asks whether a pod asks for GPUs; one that only carries our label does not count
     */
    static Reconciliation of(
            Collection<PodFacts> pods,
            Collection<PodAllocation> open,
            Predicate<PodFacts> asks,
            Instant now) {
        Map<UUID, PodFacts> present =
                pods.stream().collect(Collectors.toMap(PodFacts::uid, Function.identity()));
        Map<UUID, PodAllocation> allocations =
                open.stream().collect(Collectors.toMap(PodAllocation::uid, Function.identity()));
        var unmetered = new ArrayList<Gap>();
        var ended = new ArrayList<Gap>();
        for (PodFacts pod : pods) {
            PodAllocation allocation = allocations.get(pod.uid());
            switch (AllocationInterval.of(pod)) {
                case AllocationInterval.None none -> {}
                case AllocationInterval.Open held -> {
                    if (allocation == null && asks.test(pod)) {
                        unmetered.add(gap(pod, held.from()));
                    }
                }
                case AllocationInterval.Ended over -> {
                    if (allocation != null) {
                        ended.add(gap(allocation, over.to(), now));
                    }
                }
            }
        }
        List<Gap> orphaned =
                open.stream()
                        .filter(allocation -> !present.containsKey(allocation.uid()))
                        .map(allocation -> gap(allocation, allocation.postedUntil(), now))
                        .toList();
        return new Reconciliation(old(unmetered, now), old(orphaned, now), old(ended, now));
    }

    /** Whether nothing differs. */
    boolean sound() {
        return unmetered.isEmpty() && orphaned.isEmpty() && ended.isEmpty();
    }

    private static List<Gap> old(List<Gap> gaps, Instant now) {
        return gaps.stream().filter(gap -> gap.since().plus(GRACE).isBefore(now)).toList();
    }

    private static Gap gap(PodFacts pod, Instant since) {
        return new Gap(
                pod.uid(), pod.namespace(), pod.name(), pod.placement().node(), since, null, null);
    }

    private static Gap gap(PodAllocation allocation, Instant since, Instant now) {
        Instant until = now.isBefore(since) ? since : now;
        return new Gap(
                allocation.uid(),
                allocation.namespace(),
                allocation.name(),
                allocation.node(),
                since,
                allocation.rate(),
                GpuTime.accrued(allocation.rate(), since, until).microGpuSeconds());
    }
}
