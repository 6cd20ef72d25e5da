package io.gpusharing.timekeeper.budget.notify;

import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What has to be written on a running pod, so that what runs in it knows when its budget is used
 * up. That a pod carries it already is seen on the pod alone: nothing else is remembered.
 *
 * @param pod as it is now
 * @param end when its budget is used up, or was; null to take an untrue mark away
 */
record PodAnnotation(PodFacts pod, @Nullable Instant end) {

    /** A mark that is no further from the truth is left alone, while the end is ahead. */
    static final Duration TOLERANCE = Duration.ofSeconds(30);

    /**
     * When the budgets of namespaces are used up, or were, each to the second. Namespaces of
     * budgets that will last until their period ends are left out.
     */
    static Map<String, Instant> ends(Collection<BudgetState> states, Instant now) {
        var ends = new HashMap<String, Instant>();
        for (BudgetState state : states) {
            Instant end = state.at(now).exhaustedAt();
            if (end != null) {
                state.spec().namespaces().stream()
                        .filter(state::paysFor)
                        .forEach(it -> ends.put(it, end.truncatedTo(ChronoUnit.SECONDS)));
            }
        }
        return ends;
    }

    /**
     * The pods whose mark is missing or not true. The first of each namespace come first, then the
     * second ones, and so on, so that none has to wait for a large one.
     *
     * @param ends as of now
     */
    static List<PodAnnotation> missing(
            Collection<PodFacts> pods, Map<String, Instant> ends, Instant now) {
        record Turn(PodAnnotation mark, int number) {}
        var taken = new HashMap<String, Integer>();
        var turns = new ArrayList<Turn>();
        for (PodFacts pod : pods) {
            PodAnnotation mark = new PodAnnotation(pod, near(ends.get(pod.namespace()), pod, now));
            // A pod that has ended keeps what was written last.
            if (!mark.isTold(now)
                    && AllocationInterval.of(pod) instanceof AllocationInterval.Open) {
                int number = taken.merge(pod.namespace(), 1, Integer::sum);
                turns.add(new Turn(mark, number));
            }
        }
        return turns.stream()
                .sorted(Comparator.comparingInt(Turn::number))
                .map(Turn::mark)
                .toList();
    }

    /**
     * The end, if it is to be written on a pod now: somewhat longer if it was, lest it flickers.
     */
    private static @Nullable Instant near(@Nullable Instant end, PodFacts pod, Instant now) {
        Instant annotatedEnd = annotatedEnd(pod);
        Instant latest = now.plus(BudgetNotification.NOTICE);
        boolean far =
                end == null || end.isAfter(annotatedEnd == null ? latest : latest.plus(TOLERANCE));
        return far ? null : end;
    }

    /** Since when a budget is used up is known exactly, and does not change any more. */
    private boolean isTold(Instant now) {
        if (end == null) {
            return !pod.annotations().containsKey(Names.EXHAUSTED_AT_ANNOTATION);
        }
        Instant annotatedEnd = annotatedEnd(pod);
        Duration allowed = end.isAfter(now) ? TOLERANCE : Duration.ZERO;
        return annotatedEnd != null
                && Duration.between(annotatedEnd, end).abs().compareTo(allowed) <= 0;
    }

    /** What stands on a pod; null if nothing does, or what we cannot have written. */
    private static @Nullable Instant annotatedEnd(PodFacts pod) {
        String written = pod.annotations().get(Names.EXHAUSTED_AT_ANNOTATION);
        try {
            return ApiTime.readPresent(written);
        } catch (DateTimeException e) {
            return null;
        }
    }
}
