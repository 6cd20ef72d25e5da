package io.gpusharing.timekeeper.budget;

import io.gpusharing.timekeeper.alarm.LeaderTask;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A status that was written.
 *
 * @param state from which it was computed
 * @param alerts that it tells
 * @param uncounted what it says of GPUs that nobody is charged for; empty if nothing
 * @param at when it was written
 */
record Publication(BudgetState state, Alerts alerts, String uncounted, Instant at) {

    static Publication of(BudgetState state, Instant now) {
        return new Publication(state, Alerts.at(state, now), "", now);
    }

    /** The same, with something to say of GPUs that nobody is charged for. */
    Publication saying(String ofUncounted) {
        return new Publication(state, alerts, ofUncounted, at);
    }

    /**
     * When the next one has to be written, as below.
     *
     * @param ofUncounted what is to be said of GPUs that nobody is charged for. It is the same for
     *     all budgets and changes with the number of nodes, so no budget is written more often for
     *     it than one that is used
     */
    @Nullable Instant successorDue(
            BudgetState present, String ofUncounted, Instant now, BudgetProperties properties) {
        Instant due = successorDue(present, now, properties);
        boolean current = present.invalidSpec() != null || uncounted.equals(ofUncounted);
        return current ? due : LeaderTask.sooner(due, at.plus(properties.statusRefresh()));
    }

    /**
     * When the next one has to be written; null if this one stays good. An instant in the past
     * means at once.
     *
     * @param present the budget as it is now
     */
    @Nullable Instant successorDue(BudgetState present, Instant now, BudgetProperties properties) {
        boolean urgent =
                state.generation() != present.generation()
                        || !state.uid().equals(present.uid())
                        || !state.period().equals(present.period())
                        || !state.conflicts().equals(present.conflicts())
                        || !Objects.equals(state.unmeasured(), present.unmeasured())
                        || !state.withoutQuota().equals(present.withoutQuota())
                        || !Objects.equals(state.invalidSpec(), present.invalidSpec())
                        || !alerts.standing().equals(present.standing(now).word());
        if (urgent) {
            return now;
        }
        // Whether the end is near changes with the rate, and as often.
        if (!state.at(present.asOf()).equals(present.at(state.asOf()))
                || !alerts.equals(Alerts.at(present, now))) {
            return at.plus(properties.statusInterval());
        }
        Instant refresh = present.rate() > 0 ? at.plus(properties.statusRefresh()) : null;
        return LeaderTask.sooner(Alerts.nextAfter(present, at), refresh);
    }
}
