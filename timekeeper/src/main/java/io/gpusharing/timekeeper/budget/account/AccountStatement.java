package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.Terms;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a budget's balance changed over [from, to): what was left at the beginning, every change that
 * was not use, and what was left at the end.
 *
 * <p>{@code opening + changes - used = closing}, to the micro-GPU-second: what begins at {@code
 * from} is among the changes, what begins at {@code to} is not.
 *
 * @param balance what was left at {@code to}, what begins then included
 */
public record AccountStatement(
        GpuTime opening, List<BalanceChange> changes, GpuTime closing, GpuTime balance) {

    /** Why a balance changed without use. */
    public enum Kind {
        /** The period's own. */
        Allowance,
        /** What was left of the last allowance and may be used one period longer. */
        Rollover,
        /** A grant began to count. */
        Grant,
        /** What was left of an allowance, a rollover or a grant when it ended. */
        Expired,
        /** What was left of a grant when it was deleted. */
        Revoked,
        /** What a period overran above the cap on debt. */
        WrittenOff,
        /**
         * Use that became known after its period was closed; it counts in the period that was open
         * then.
         */
        LateUsage
    }

    /**
     * A change other than use.
     *
     * @param source name of the grant, {@code allowance}, {@code rollover}, or the period
     * @param amount micro-GPU-seconds; negative where it takes away
     */
    public record BalanceChange(Instant at, Kind kind, String source, long amount) {}

    /**
     * A period as it was opened, with what it is computed from.
     *
     * @param late what was posted for earlier spans after they were closed, as far as it counts
     *     here
     */
    public record StatementPeriod(CarryOver carryOver, Terms terms, GpuTime late) {}

    /**
     * Walks a budget's periods.
     *
     * @param statementPeriods the periods from the one that holds {@code from} on, oldest first; a
     *     period that was not opened yet follows from the one before
     * @param fresh whether the first of them is the budget's very first: nothing was left before it
     */
    public static AccountStatement walk(
            List<StatementPeriod> statementPeriods,
            boolean fresh,
            List<Grant> grants,
            UsedTime used,
            Instant from,
            Instant to) {
        var walk = new Walk(statementPeriods, grants, used, from);
        return walk.statement(fresh, to);
    }

    private static final class Walk {

        private final List<StatementPeriod> statementPeriods;
        private final List<Grant> grants;
        private final UsedTime used;
        private final Instant from;
        private final List<BalanceChange> changes = new ArrayList<>();
        private int present;
        private BudgetLine line;
        private @Nullable GpuTime opening;

        Walk(
                List<StatementPeriod> statementPeriods,
                List<Grant> grants,
                UsedTime used,
                Instant from) {
            this.statementPeriods = statementPeriods;
            this.grants = grants;
            this.used = used;
            this.from = from;
            this.line = begin(statementPeriods.getFirst());
        }

        AccountStatement statement(boolean fresh, Instant to) {
            StatementPeriod first = statementPeriods.getFirst();
            Instant start = first.carryOver().countedFrom();
            if (fresh && !start.isBefore(from)) {
                opening = GpuTime.ZERO;
                if (!start.isBefore(to)) {
                    GpuTime then = start.equals(to) ? line.remaining() : GpuTime.ZERO;
                    return new AccountStatement(GpuTime.ZERO, List.of(), GpuTime.ZERO, then);
                }
                itemize(null, line, start, GpuTime.ZERO);
            }
            Instant step = line.nextStep();
            while (step != null && step.isBefore(to)) {
                takeStep(step);
                step = line.nextStep();
            }
            open(to);
            GpuTime closing = line.remaining().minus(used.in(line.asOf(), to));
            GpuTime balance = closing;
            if (step != null && step.equals(to)) {
                int kept = changes.size();
                takeStep(step);
                balance = line.remaining();
                changes.subList(kept, changes.size()).clear();
            }
            return new AccountStatement(
                    opening == null ? closing : opening, List.copyOf(changes), closing, balance);
        }

        private BudgetLine begin(StatementPeriod statementPeriod) {
            Instant at = statementPeriod.carryOver().countedFrom();
            return statementPeriod
                    .carryOver()
                    .line(statementPeriod.terms(), grants)
                    .after(statementPeriod.late(), at);
        }

        /** If the statement begins before {@code instant}, what was left then is known now. */
        private void open(Instant instant) {
            if (opening == null && !from.isAfter(instant)) {
                opening = line.remaining().minus(used.in(line.asOf(), from));
            }
        }

        private void takeStep(Instant step) {
            open(step);
            GpuTime amount = used.in(line.asOf(), step);
            // Nothing begins or ends within a second, so this is how it was just before.
            BudgetLine before = line.after(amount, step.minus(1, ChronoUnit.MICROS));
            boolean edge = step.equals(line.periodEnd());
            StatementPeriod stored =
                    edge && present + 1 < statementPeriods.size()
                            ? statementPeriods.get(present + 1)
                            : null;
            if (stored != null) {
                present++;
                line = begin(stored);
            } else {
                line = line.after(amount, step);
            }
            if (!step.isBefore(from)) {
                itemize(before, line, step, before.remaining());
            }
        }

        private void itemize(
                @Nullable BudgetLine before, BudgetLine after, Instant at, GpuTime left) {
            int first = changes.size();
            if (before != null) {
                for (Credit credit : before.credits()) {
                    if (at.equals(credit.until()) && credit.remaining().isPositive()) {
                        add(
                                at,
                                end(credit, before),
                                credit.source(),
                                GpuTime.ZERO.minus(credit.remaining()));
                    }
                }
            }
            boolean edge = before == null || at.equals(before.periodEnd());
            CarryOver opened =
                    edge && statementPeriods.get(present).carryOver().countedFrom().equals(at)
                            ? statementPeriods.get(present).carryOver()
                            : null;
            if (edge) {
                edge(before, after, opened, at);
            }
            for (Grant grant : grants) {
                if (grant.from().equals(at) || (before == null && grant.from().isBefore(at))) {
                    after.credits().stream()
                            .filter(grant::isSourceOf)
                            .findFirst()
                            .ifPresent(
                                    credit -> add(at, Kind.Grant, credit.source(), grant.amount()));
                }
            }
            GpuTime explained =
                    changes.subList(first, changes.size()).stream()
                            .map(credit -> new GpuTime(credit.amount()))
                            .reduce(left, GpuTime::plus);
            GpuTime rest = after.remaining().minus(explained);
            if (rest.microGpuSeconds() != 0) {
                add(at, Kind.LateUsage, "closed periods", rest);
            }
        }

        private Kind end(Credit credit, BudgetLine before) {
            PeriodRule periods = before.terms().periods();
            return grants.stream().anyMatch(it -> it.isSourceOf(credit) && it.isRevoked(periods))
                    ? Kind.Revoked
                    : Kind.Expired;
        }

        private void edge(
                @Nullable BudgetLine before,
                BudgetLine after,
                @Nullable CarryOver opened,
                Instant at) {
            if (before != null && before.overrun().isPositive()) {
                GpuTime owed =
                        opened != null
                                ? opened.debt()
                                : before.overrun()
                                        .min(
                                                after.terms()
                                                        .allowance()
                                                        .percent(after.terms().maxDebtPercent()));
                GpuTime forgiven =
                        opened != null ? opened.writtenOff() : before.overrun().minus(owed);
                if (forgiven.isPositive()) {
                    add(at, Kind.WrittenOff, "debt above the cap", forgiven);
                }
            }
            add(at, Kind.Allowance, Credit.ALLOWANCE, after.terms().allowance());
            GpuTime rolled =
                    opened != null
                            ? opened.rolledOver()
                            : after.credits().stream()
                                    .filter(credit -> credit.source().equals(Credit.ROLLOVER))
                                    .map(Credit::remaining)
                                    .reduce(GpuTime.ZERO, GpuTime::plus);
            if (rolled.isPositive()) {
                add(at, Kind.Rollover, Credit.ROLLOVER, rolled);
            }
        }

        private void add(Instant at, Kind kind, String source, GpuTime amount) {
            changes.add(new BalanceChange(at, kind, source, amount.microGpuSeconds()));
        }
    }
}
