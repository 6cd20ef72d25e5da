package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What namespaces have used of their budgets since this replica began to count. It goes on where a
 * period ends, and never falls: a charge that is corrected to less takes nothing away.
 */
final class NamespaceTotals {

    /** All namespaces of a budget are read one after the other. */
    private static final Duration OFTEN_ENOUGH = Duration.ofSeconds(1);

    private final Map<String, Counted> budgets = new HashMap<>();

    /**
     * A budget that was counted.
     *
     * @param read as it was read
     * @param last the same as of the instant until which it was counted
     * @param totals of its namespaces, in micro-GPU-seconds
     */
    private record Counted(BudgetState read, BudgetState last, Map<String, Long> totals) {

        boolean isFresh(BudgetState state, Instant now) {
            return read.equals(state) && now.isBefore(last.asOf().plus(OFTEN_ENOUGH));
        }
    }

    /** Counts what was used of a budget until an instant. */
    synchronized void count(BudgetState state, Instant now) {
        Counted counted = budgets.get(state.name());
        if (counted == null) {
            budgets.put(state.name(), new Counted(state, state.at(now), new HashMap<>()));
            return;
        }
        BudgetState last = counted.last();
        BudgetState next = state.at(now);
        // A clock that was set back counts nothing twice.
        if (counted.isFresh(state, now) || next.asOf().isBefore(last.asOf())) {
            return;
        }
        Map<String, Long> totals = counted.totals();
        Instant start = next.period().start();
        if (start.equals(last.period().start())) {
            add(totals, used(last), used(next));
        } else if (!start.isBefore(last.asOf())) {
            // The last period went on until this one began.
            add(totals, used(last), used(last.at(start)));
            add(totals, Map.of(), used(next));
        }
        budgets.put(state.name(), new Counted(state, next, totals));
    }

    /** A budget has gone. */
    synchronized void forget(String budget) {
        budgets.remove(budget);
    }

    /** What a namespace has used of a budget, in micro-GPU-seconds. */
    synchronized long of(String budget, String namespace) {
        Counted counted = budgets.get(budget);
        return counted == null ? 0 : counted.totals().getOrDefault(namespace, 0L);
    }

    private static void add(
            Map<String, Long> totals, Map<String, Long> from, Map<String, Long> to) {
        to.forEach((namespace, used) ->
                totals.merge(
                        namespace,
                        Math.max(0, used - from.getOrDefault(namespace, 0L)),
                        Long::sum));
    }

    private static Map<String, Long> used(BudgetState state) {
        return state.namespaces().stream()
                .collect(
                        Collectors.toMap(
                                NamespaceUse::namespace, use -> use.used().microGpuSeconds()));
    }
}
