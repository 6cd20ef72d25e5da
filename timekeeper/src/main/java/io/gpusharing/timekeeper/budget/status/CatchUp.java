package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.LedgerLease.Word;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.web.LeaderTask;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Up to when the published budgets say what the ledger says. The publisher tells it, in each round,
 * up to when the ledger has caught up and which statuses are late; any thread may ask.
 *
 * <p>A status that is late holds up the instant that can be vouched for. After half a minute its
 * budget is named instead, so that one that cannot be written stops no other.
 */
@Component
final class CatchUp {

    /** How long a late status holds up all budgets. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What the published status of a budget is worth. */
    enum Published {
        /** Decisions by it are those that the ledger would lead to. */
        Right,
        /** Decisions by it may be others, or it was not written in this term. */
        Late,
        /**
         * The budget is counted without a limit, because its spec or its account is not understood.
         */
        NotUnderstood,
        /** The budget exists no more. */
        Gone;

        /**
         * Judges a budget.
         *
         * @param state null if it exists no more
         * @param last what was written of it in this term; null if nothing was
         */
        static Published of(
                @Nullable BudgetState state,
                @Nullable Publication last,
                Instant now,
                BudgetProperties properties) {
            if (state == null) {
                return Gone;
            }
            if (state.invalidSpec() != null) {
                return NotUnderstood;
            }
            return last != null && !state.isAhead(now) && last.holdsFor(state, now, properties)
                    ? Right
                    : Late;
        }
    }

    /**
     * A status that has to be written.
     *
     * @param rightUntil up to when the one that stands there was right; null if that is not known
     * @param since when it was seen to be late
     */
    private record Overdue(@Nullable Instant rightUntil, Instant since) {}

    private final Map<String, Overdue> late = new HashMap<>();
    private final Set<String> notUnderstood = new HashSet<>();

    /** Up to when the ledger had caught up at the begin of the last round. */
    private @Nullable Instant ledger;

    /** Begins anew: another replica may have written meanwhile. */
    synchronized void clear() {
        late.clear();
        notUnderstood.clear();
        ledger = null;
    }

    /**
     * A round of the publisher begins.
     *
     * @param caughtUp up to when the ledger has caught up, asked for before the budgets were; null
     *     if that is not known
     * @param looked all budgets that have changed since the last round, and others; those that are
     *     not named are as they were
     */
    synchronized void begin(
            @Nullable Instant caughtUp, Map<String, Published> looked, Instant now) {
        looked.forEach((name, published) -> {
            if (published == Published.NotUnderstood) {
                notUnderstood.add(name);
            } else {
                notUnderstood.remove(name);
            }
            if (published == Published.Late) {
                late.putIfAbsent(name, new Overdue(ledger, now));
            } else {
                late.remove(name);
            }
        });
        ledger = caughtUp;
    }

    /** The status of a budget was written in this round. */
    synchronized void written(String name) {
        late.remove(name);
    }

    /**
     * What can be vouched for.
     *
     * @param unreadable names of budgets whose objects cannot be read: what was published of them
     *     follows from what they said before
     * @return empty while nothing can: the term has just begun, or too many budgets are behind
     */
    synchronized Optional<Word> word(Instant now, Set<String> unreadable) {
        Instant until = ledger;
        var behind = new TreeSet<>(unreadable);
        behind.addAll(notUnderstood);
        for (var entry : late.entrySet()) {
            Overdue overdue = entry.getValue();
            if (now.isAfter(overdue.since().plus(PATIENCE))) {
                behind.add(entry.getKey());
            } else if (overdue.rightUntil() == null) {
                return Optional.empty();
            } else {
                until = LeaderTask.sooner(until, overdue.rightUntil());
            }
        }
        return until == null || behind.size() > LedgerLease.MOST_BEHIND
                ? Optional.empty()
                : Optional.of(new Word(until, behind));
    }
}
