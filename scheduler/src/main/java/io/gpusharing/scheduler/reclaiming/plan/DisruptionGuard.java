package io.gpusharing.scheduler.reclaiming.plan;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.gpusharing.scheduler.picture.ClusterSnapshot;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.Past.Refusal;
import io.gpusharing.scheduler.reclaiming.plan.BudgetOrder.Gang;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Spared;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Pods that could be evicted but cannot go now: a PodDisruptionBudget keeps them, or the API server
 * has just refused.
 */
final class DisruptionGuard {

    private static final Duration LONGEST_BACK_OFF = Duration.ofHours(1);

    private final ClusterSnapshot snapshot;
    private final Rules rules;
    private final Waiter waiter;

    /** By the victim's UID. */
    private final Map<String, List<Refusal>> refusals;

    DisruptionGuard(ClusterSnapshot snapshot, Rules rules, Waiter waiter) {
        this.snapshot = snapshot;
        this.rules = rules;
        this.waiter = waiter;
        this.refusals = snapshot.refusals().stream().collect(groupingBy(Refusal::victim));
    }

    /** One settling time after the first time in vain, twice that after the second, at most 1 h. */
    static Duration backOff(Rules rules, long times) {
        Duration pause = rules.settle().multipliedBy(1L << Math.min(times - 1, 16));
        return pause.compareTo(LONGEST_BACK_OFF) < 0 ? pause : LONGEST_BACK_OFF;
    }

    /**
     * Those that can go together now: each as a whole, in addition to those before it, or not at
     * all.
     *
     * @return their keys
     */
    Set<String> evictableNow(List<Gang> gangs) {
        var allowed = new HashMap<>(snapshot.disruptionsAllowed());
        var going = new HashSet<String>();
        for (Gang gang : gangs) {
            if (retryAt(gang).isEmpty() && take(gang, allowed)) {
                going.add(gang.key());
            }
        }
        return going;
    }

    /** When a gang that was refused lately may be asked for again; empty if it may be now. */
    Optional<Instant> retryAt(Gang gang) {
        List<Instant> refused =
                refusals(gang, it -> it.workload().equals(waiter.workload()))
                        .map(Refusal::at)
                        .distinct()
                        .sorted()
                        .toList();
        return refused.isEmpty()
                ? Optional.empty()
                : Optional.of(refused.getLast().plus(backOff(rules, refused.size())))
                        .filter(again -> snapshot.now().isBefore(again));
    }

    /** Since when all of these gangs have been refused to this waiter; empty if one never was. */
    Optional<Instant> refusedSince(List<Gang> gangs) {
        List<Optional<Instant>> first = gangs.stream().map(this::refusedSince).toList();
        return first.stream().allMatch(Optional::isPresent)
                ? first.stream().flatMap(Optional::stream).max(Comparator.naturalOrder())
                : Optional.empty();
    }

    private Optional<Instant> refusedSince(Gang gang) {
        return refusals(gang, it -> it.waiter().equals(waiter.pod().uid()))
                .map(Refusal::at)
                .min(Comparator.naturalOrder());
    }

    private Stream<Refusal> refusals(Gang gang, Predicate<Refusal> which) {
        return gang.pods().stream()
                .flatMap(pod -> refusals.getOrDefault(pod.pod().uid(), List.of()).stream())
                .filter(which);
    }

    /** Takes the gang out of the disruption budgets, or nothing if they do not let all of it go. */
    private static boolean take(Gang gang, Map<String, Integer> allowed) {
        // The Eviction API refuses a pod that several of them select, whatever they allow.
        if (gang.pods().stream().anyMatch(pod -> pod.disruptionBudgets().size() > 1)) {
            return false;
        }
        // There may be thousands, of which few are the gang's.
        Map<String, Integer> left = new HashMap<>();
        gang.pods()
                .forEach(pod ->
                        pod.disruptionBudgets()
                                .forEach(name ->
                                        left.merge(
                                                name,
                                                allowed.getOrDefault(name, 0) - 1,
                                                (before, _) -> before - 1)));
        boolean enough = left.values().stream().allMatch(it -> it >= 0);
        if (enough) {
            allowed.putAll(left);
        }
        return enough;
    }

    /** Why a pod is kept at this moment; empty if it is not. */
    static Optional<Spared> protecting(Holder gpuPod, ClusterSnapshot snapshot) {
        if (gpuPod.disruptionBudgets().size() > 1) {
            return Optional.of(
                    new Spared(
                            "several PodDisruptionBudgets select it",
                            "%d PodDisruptionBudgets select it, which the Eviction API does not support"
                                    .formatted(gpuPod.disruptionBudgets().size())));
        }
        String full =
                gpuPod.disruptionBudgets().stream()
                        .filter(name -> snapshot.disruptionsAllowed().getOrDefault(name, 0) <= 0)
                        .collect(joining(", "));
        return full.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Spared(
                                "its PodDisruptionBudget lets nobody go now",
                                "PodDisruptionBudget " + full + " lets nobody go now"));
    }
}
