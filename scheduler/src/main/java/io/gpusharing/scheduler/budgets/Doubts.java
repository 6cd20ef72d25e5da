package io.gpusharing.scheduler.budgets;

import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.LedgerLease.Word;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Why nobody may be evicted by what budgets say, nor for anybody by that. The status of a budget
 * stays as it was while nobody writes it, and by its line it is used up some day.
 *
 * @param ofAll why no budget may be acted on; empty if some may
 * @param behind names of budgets for which the timekeeper does not vouch
 * @param grants when the newest grant of each budget was made, by the budget's name; {@link
 *     Instant#MAX} for one that has a grant which cannot be read
 * @param now the instant of the decision
 */
public record Doubts(
        Optional<String> ofAll, Set<String> behind, Map<String, Instant> grants, Instant now) {

    /** Nobody may be evicted, whatever budgets say. */
    public static Doubts ofAll(String why, Instant now) {
        return new Doubts(Optional.of(why), Set.of(), Map.of(), now);
    }

    /**
     * What follows from the timekeeper's last word.
     *
     * @param word empty if there is none, or it makes no sense
     */
    static Doubts of(Optional<Word> word, Map<String, Instant> grants, Instant now) {
        if (word.isEmpty()) {
            return ofAll("the timekeeper has not said up to when its ledger has caught up", now);
        }
        Instant caughtUp = word.get().caughtUp();
        if (!LedgerLease.isGood(word.get(), now)) {
            return ofAll(
                    caughtUp.isAfter(now)
                            ? "the ledger has caught up by a clock that was ahead, at " + caughtUp
                            : "the ledger has not caught up since " + caughtUp,
                    now);
        }
        return new Doubts(Optional.empty(), word.get().behind(), grants, now);
    }

    /** Why a budget may not be acted on; empty if it may. */
    public Optional<String> of(KnownBudget budget) {
        return ofAll.or(() -> because(!budget.readable(), budget, "cannot be read"))
                .or(() ->
                        because(
                                behind.contains(budget.name()),
                                budget,
                                "is not published as the ledger has it"))
                .or(() ->
                        because(
                                !budget.isOfThisGeneration(),
                                budget,
                                "has been edited since its status was written"))
                .or(() ->
                        because(
                                budget.isAhead(now),
                                budget,
                                "was computed by a clock that was ahead, as of " + budget.asOf()))
                .or(() ->
                        because(
                                mayBeBackInBudget(budget),
                                budget,
                                Instant.MAX.equals(grants.get(budget.name()))
                                        ? "has a grant that cannot be read"
                                        : "has a grant that is newer than its status"));
    }

    /**
     * A grant changes nothing for a budget that is not used up. The one instant is the API
     * server's, in whole seconds, and the other the timekeeper's.
     */
    private boolean mayBeBackInBudget(KnownBudget budget) {
        Instant granted = grants.get(budget.name());
        return granted != null
                && budget.asOf() != null
                && !granted.isBefore(budget.asOf().minus(LeaseSettings.SKEW))
                && budget.isOver(now);
    }

    private static Optional<String> because(boolean holds, KnownBudget budget, String what) {
        return holds
                ? Optional.of("budget %s %s".formatted(budget.name(), what))
                : Optional.empty();
    }
}
