package io.gpusharing.timekeeper.api;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.ledger.PodStay;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.Stay;
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

    /** News takes a while to arrive: what is younger than this is no difference. */
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
            Collection<PodStay> open,
            Predicate<PodFacts> asks,
            Instant now) {
        Map<UUID, PodFacts> present =
                pods.stream().collect(Collectors.toMap(PodFacts::uid, Function.identity()));
        Map<UUID, PodStay> stays =
                open.stream().collect(Collectors.toMap(PodStay::uid, Function.identity()));
        var unmetered = new ArrayList<Gap>();
        var ended = new ArrayList<Gap>();
        for (PodFacts pod : pods) {
            PodStay stay = stays.get(pod.uid());
            switch (Stay.of(pod)) {
                case Stay.None none -> {}
                case Stay.Open held -> {
                    if (stay == null && asks.test(pod)) {
                        unmetered.add(gap(pod, held.from()));
                    }
                }
                case Stay.Ended over -> {
                    if (stay != null) {
                        ended.add(gap(stay, over.to(), now));
                    }
                }
            }
        }
        List<Gap> orphaned =
                open.stream()
                        .filter(stay -> !present.containsKey(stay.uid()))
                        .map(stay -> gap(stay, stay.postedUntil(), now))
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

    private static Gap gap(PodStay stay, Instant since, Instant now) {
        Instant until = now.isBefore(since) ? since : now;
        return new Gap(
                stay.uid(),
                stay.namespace(),
                stay.name(),
                stay.node(),
                since,
                stay.rate(),
                GpuTime.accrued(stay.rate(), since, until).microGpuSeconds());
    }
}
