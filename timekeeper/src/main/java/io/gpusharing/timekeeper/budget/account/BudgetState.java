package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.Unlimited;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A budget as of an instant. It also answers for any later instant, until something changes.
 *
 * @param line empty if it is unlimited
 * @param exhaustedSince since when it is used up; null while it is not
 * @param namespaces by name
 * @param unmeasured open pods that are charged by their allocation although the budget charges by
 *     measured use; null until that was looked at
 * @param conflicts namespaces that it names and another budget keeps
 * @param invalidSpec why its spec is not understood, so that it is counted without a limit; null if
 *     it is
 * @param withoutQuota its namespaces where a whole GPU counts as one, because the quota that it
 *     refers to is not there
 */
public record BudgetState(
        String name,
        String uid,
        long generation,
        GpuBudgetSpec spec,
        Instant asOf,
        Period period,
        Optional<BudgetLine> line,
        @Nullable Instant exhaustedSince,
        List<NamespaceUse> namespaces,
        List<Conflict> conflicts,
        @Nullable Integer unmeasured,
        @Nullable InvalidSpec invalidSpec,
        List<String> withoutQuota) {

    public BudgetState {
        namespaces = List.copyOf(namespaces);
        conflicts = List.copyOf(conflicts);
        withoutQuota = List.copyOf(withoutQuota);
    }

    /**
     * Whether it is of an instant that is still to come, because a clock was ahead when it was
     * computed. What it says has not happened yet, and nobody acts on it.
     */
    public boolean isAhead(Instant now) {
        return asOf.isAfter(now.plus(LeaseSettings.SKEW));
    }

    /** Whether it names a namespace, and no other budget keeps that. */
    public boolean paysFor(String namespace) {
        return spec.namespaces().contains(namespace)
                && conflicts.stream().noneMatch(it -> it.namespace().equals(namespace));
    }

    /** Micro-GPUs held now. */
    public long rate() {
        return namespaces.stream().mapToLong(NamespaceUse::rate).sum();
    }

    /** Used in this period until an instant, which is not before {@link #asOf}. */
    public GpuTime used(Instant now) {
        return namespaces.stream()
                .map(NamespaceUse::used)
                .reduce(GpuTime.ZERO, GpuTime::plus)
                .plus(GpuTime.accrued(rate(), asOf, later(now)));
    }

    /** What is left at an instant, negative by what was overrun; empty if it is unlimited. */
    public Optional<GpuTime> remaining(Instant now) {
        return line.map(it -> it.at(now).remaining());
    }

    /** What this period gives: what is left and what was used. */
    public Optional<GpuTime> granted(Instant now) {
        return remaining(now).map(left -> left.plus(used(now)));
    }

    /** How it stands at an instant. */
    public Standing standing(Instant now) {
        return line.map(it -> it.standingAt(now)).orElseGet(Unlimited::new);
    }

    /**
     * What people read of its standing at an instant: the word of the standing, that its spec is
     * misspelled, or that other budgets keep all namespaces of its list.
     */
    public String standingWord(Instant now) {
        if (invalidSpec != null) {
            return PublishedBudget.MISSPELLED;
        }
        return spec.namespaces().stream().anyMatch(this::paysFor)
                ? standing(now).word()
                : PublishedBudget.INACTIVE;
    }

    /** When its time ends, or ended, at the present rate; null if it does not in this period. */
    public @Nullable Instant exhaustedAt() {
        return exhaustedSince != null
                ? exhaustedSince
                : line.map(BudgetLine::exhaustedAt).orElse(null);
    }

    /** The same budget as of a later instant. */
    public BudgetState at(Instant now) {
        Instant to = later(now);
        Optional<BudgetLine> then = line.map(it -> it.at(to));
        boolean left = then.map(it -> it.remaining().isPositive()).orElse(true);
        return new BudgetState(
                name,
                uid,
                generation,
                spec,
                to,
                period,
                then,
                left ? null : exhaustedAt(),
                namespaces.stream().map(use -> use.at(asOf, to)).toList(),
                conflicts,
                unmeasured,
                invalidSpec,
                withoutQuota);
    }

    /**
     * What each namespace used of this period until an instant.
     *
     * @param now taken as {@link #asOf} if it is earlier
     */
    public List<NamespaceUse> namespacesAt(Instant now) {
        return namespaces.stream().map(use -> use.at(asOf, later(now))).toList();
    }

    private Instant later(Instant now) {
        return now.isBefore(asOf) ? asOf : now;
    }
}
