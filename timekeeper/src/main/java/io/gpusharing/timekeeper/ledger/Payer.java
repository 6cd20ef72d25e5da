package io.gpusharing.timekeeper.ledger;

import io.gpusharing.budget.RateRule;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who pays for a namespace, and how the rate is found.
 *
 * @param budget name of the budget
 * @param rule how a share becomes a rate
 * @param byUse whether what a node agent measures lowers the charge
 * @param since first instant at which this holds
 * @param before what held until then; null for nobody
 */
public record Payer(
        String budget, RateRule rule, boolean byUse, Instant since, @Nullable Payer before) {

    /**
     * In place of a budget's name where no budget names the namespace. The use is recorded, and
     * nobody pays for it.
     */
    public static final String NOBODY = "";

    /** Nobody pays. */
    public static final Payer FREE = new Payer(NOBODY, RateRule.DEFAULT, false, Instant.MIN, null);

    /** Whether both charge the same. */
    public boolean sameTerms(Payer other) {
        return budget.equals(other.budget) && rule.equals(other.rule) && byUse == other.byUse;
    }

    /**
     * Whether it charges an allocation by measured use. Nobody measures what several pods hold
     * together.
     */
    public boolean isByUse(PodAllocation allocation) {
        return byUse && !allocation.isShared();
    }

    /** The same, from an instant on, after another. */
    public Payer after(Payer earlier, Instant from) {
        return new Payer(budget, rule, byUse, from, earlier);
    }

    /** Who paid from an instant on until now, oldest first; the same terms once. */
    public List<Payer> history(Instant from) {
        var history = new ArrayDeque<Payer>();
        Payer payer = this;
        history.add(payer);
        while (payer.since().isAfter(from)) {
            Payer earlier = payer.previous();
            if (earlier.sameTerms(payer)) {
                history.removeFirst();
            }
            payer = earlier;
            history.addFirst(payer);
        }
        return List.copyOf(history);
    }

    public Payer previous() {
        return before == null ? FREE : before;
    }
}
