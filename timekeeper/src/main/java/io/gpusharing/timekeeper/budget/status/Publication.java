package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.GpuBudgetStatus.CreditEntry;
import io.gpusharing.budget.GpuBudgetStatus.PeriodEdges;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.web.LeaderTask;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A status that was written.
 *
 * @param state from which it was computed
 * @param alerts that it says
 * @param unmatched what it says of the names in its list; empty if nothing
 * @param uncounted what it says of GPUs that nobody is charged for; empty if nothing
 * @param unreadable what it says of objects of its namespaces that cannot be read; empty if nothing
 * @param at when it was written
 */
public record Publication(
        BudgetState state,
        Alerts alerts,
        Optional<UnmatchedNamespaces> unmatched,
        String uncounted,
        String unreadable,
        Instant at) {

    /** Longest {@code problem} of a status, in characters. */
    private static final int LONGEST_PROBLEM = 512;

    public static Publication of(BudgetState state, Instant now) {
        return new Publication(state, Alerts.at(state, now), Optional.empty(), "", "", now);
    }

    /** The same, with something to say of what is no part of the account. */
    Publication saying(
            Optional<UnmatchedNamespaces> ofUnmatched, String ofUncounted, String ofUnreadable) {
        return new Publication(state, alerts, ofUnmatched, ofUncounted, ofUnreadable, at);
    }

    /**
     * When the next one has to be written, as below.
     *
     * @param ofUncounted what is to be said of GPUs that nobody is charged for. It is the same for
     *     all budgets and changes with the number of nodes, so no budget is written more often for
     *     it than one that is used
     * @param ofUnreadable what is to be said of objects that cannot be read. Tenants may change it
     *     as often as they like, so the same holds
     */
    @Nullable
    public Instant successorDue(
            BudgetState present,
            String ofUncounted,
            String ofUnreadable,
            Instant now,
            BudgetProperties properties) {
        Instant due = successorDue(present, now, properties);
        boolean current =
                (present.invalidSpec() != null || uncounted.equals(ofUncounted))
                        && unreadable.equals(ofUnreadable);
        return current ? due : LeaderTask.sooner(due, at.plus(properties.statusRefresh()));
    }

    /**
     * When the next one has to be written; null if this one stays good. An instant in the past
     * means at once.
     *
     * @param present the budget as it is now
     */
    @Nullable
    public Instant successorDue(BudgetState present, Instant now, BudgetProperties properties) {
        boolean urgent =
                state.generation() != present.generation()
                        || !state.uid().equals(present.uid())
                        || !state.period().equals(present.period())
                        || !state.conflicts().equals(present.conflicts())
                        || !Objects.equals(state.unmeasured(), present.unmeasured())
                        || !state.withoutQuota().equals(present.withoutQuota())
                        || !Objects.equals(state.invalidSpec(), present.invalidSpec())
                        || !alerts.standing().equals(present.standingWord(now));
        if (urgent) {
            return now;
        }
        // Whether the end is near changes with the rate, and as often.
        if (!alerts.equals(Alerts.at(present, now))) {
            return at.plus(properties.statusInterval());
        }
        if (!saysTheSame(present)) {
            return decidesAlike(present, now, properties)
                    ? at.plus(properties.statusSpacing())
                    : at.plus(properties.statusInterval());
        }
        Instant refresh = present.rate() > 0 ? at.plus(properties.statusRefresh()) : null;
        return LeaderTask.sooner(Alerts.nextAfter(present, at), refresh);
    }

    private boolean saysTheSame(BudgetState present) {
        return state.at(present.asOf()).equals(present.at(state.asOf()));
    }

    /** Whether nobody decides otherwise by it than by the present state, were it for a while. */
    boolean holdsFor(BudgetState present, Instant now, BudgetProperties properties) {
        return saysTheSame(present) || decidesAlike(present, now, properties);
    }

    /**
     * Whether nobody decides otherwise by the line that was written than by the present one, for
     * long enough to write it later: both give the same time, and neither ends soon.
     */
    boolean decidesAlike(BudgetState present, Instant now, BudgetProperties properties) {
        Instant soon = now.plus(properties.statusSpacing().multipliedBy(3));
        return state.generation() == present.generation()
                && state.uid().equals(present.uid())
                && state.period().equals(present.period())
                && alerts.equals(Alerts.at(present, now))
                && state.granted(now).equals(present.granted(now))
                && !changesBy(state, now, soon)
                && !changesBy(present, now, soon);
    }

    /** Whether it ends, or a credit or the period begins or ends, until an instant. */
    private static boolean changesBy(BudgetState state, Instant now, Instant until) {
        Instant end = state.standing(now) instanceof Standing.InBudget ? state.exhaustedAt() : null;
        Instant step = state.line().map(BudgetLine::nextStep).orElse(null);
        return (end != null && !end.isAfter(until)) || (step != null && !step.isAfter(until));
    }

    /**
     * The status as of an instant.
     *
     * @param alerts that its conditions say
     * @param unmatched names in its list that bring it nothing; empty while that is not known
     * @param uncounted GPUs that nobody is charged for; empty while that is not known
     * @param unreadable a sentence on objects of its namespaces that cannot be read, empty if there
     *     are none; nothing while that is not known
     * @param before the status that stands there; its conditions keep their transition times
     */
    public static GpuBudgetStatus document(
            BudgetState state,
            Instant now,
            Alerts alerts,
            Optional<UnmatchedNamespaces> unmatched,
            Optional<Uncounted> uncounted,
            Optional<String> unreadable,
            @Nullable GpuBudgetStatus before) {
        BudgetState at = state.at(now);
        Instant asOf = at.asOf();
        Optional<GpuTime> granted = at.granted(asOf);
        Optional<GpuTime> remaining = at.remaining(asOf);
        GpuTime used = at.used(asOf);
        Instant exhausted = at.exhaustedAt();
        List<Condition> conditions =
                BudgetConditions.of(at, alerts, unmatched, uncounted, unreadable, before);
        return new GpuBudgetStatus(
                at.generation(),
                asOf.toString(),
                new PeriodEdges(at.period().start().toString(), text(at.period().end())),
                granted.map(GpuTime::microGpuSeconds).orElse(null),
                used.microGpuSeconds(),
                remaining.map(GpuTime::microGpuSeconds).orElse(null),
                at.rate(),
                at.line()
                        .map(line -> line.credits().stream().map(Publication::credit).toList())
                        .orElse(null),
                text(exhausted),
                standing(at, unmatched, conditions, before),
                granted.map(GpuTime::minutes).orElse(null),
                used.minutes(),
                remaining.map(GpuTime::minutes).orElse(null),
                GpuShare.inGpus(at.rate()),
                at.namespaces().stream().map(NamespaceUse::published).toList(),
                conditions,
                problem(conditions));
    }

    /**
     * What people read of the standing. While the namespaces are not known it is what they made of
     * it before, as long as the condition about them stands.
     */
    private static String standing(
            BudgetState at,
            Optional<UnmatchedNamespaces> unmatched,
            List<Condition> conditions,
            @Nullable GpuBudgetStatus before) {
        boolean drawnOn =
                unmatched
                        .map(it ->
                                at.spec().namespaces().stream()
                                        .anyMatch(name -> at.paysFor(name) && !it.names(name)))
                        .orElseGet(() ->
                                before == null
                                        || !PublishedBudget.INACTIVE.equals(before.standing())
                                        || says(conditions, BudgetConditions.FOUND).isEmpty());
        return drawnOn || at.invalidSpec() != null
                ? at.standingWord(at.asOf())
                : PublishedBudget.INACTIVE;
    }

    /** What the conditions say against the spec, in one line; null if they say nothing. */
    private static @Nullable String problem(List<Condition> conditions) {
        String all =
                BudgetConditions.OF_THE_SPEC.stream()
                        .flatMap(type -> says(conditions, type).stream())
                        .collect(Collectors.joining("; "));
        if (all.length() > LONGEST_PROBLEM) {
            return all.substring(0, LONGEST_PROBLEM - 1) + "…";
        }
        return all.isEmpty() ? null : all;
    }

    /** What a condition says that is not met. */
    private static Optional<String> says(List<Condition> conditions, String type) {
        return conditions.stream()
                .filter(it -> it.type().equals(type) && it.status().equals("False"))
                .map(Condition::message)
                .findFirst();
    }

    private static CreditEntry credit(Credit credit) {
        return new CreditEntry(
                credit.source(),
                credit.remaining().microGpuSeconds(),
                credit.from().toString(),
                text(credit.until()));
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
