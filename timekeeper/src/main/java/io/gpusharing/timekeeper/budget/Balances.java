package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.budget.account.BalanceReplay;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.budget.account.UsedTime;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.database.Snapshot;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/** What was left of a budget at any instant, and why, computed from the ledger alone. */
@Repository
public class Balances {

    private final Snapshot snapshot;
    private final PeriodRepository periods;
    private final GrantRepository grants;
    private final TermsRepository terms;
    private final UsageRepository usage;

    Balances(
            Snapshot snapshot,
            PeriodRepository periods,
            GrantRepository grants,
            TermsRepository terms,
            UsageRepository usage) {
        this.snapshot = snapshot;
        this.periods = periods;
        this.grants = grants;
        this.terms = terms;
        this.usage = usage;
    }

    /**
     * A budget as of an instant.
     *
     * @param granted what the period had given until then, debt and what was written off included;
     *     null while it was unlimited
     * @param used of the period until then
     * @param remaining null while it was unlimited
     */
    public record Balance(
            Period period, @Nullable GpuTime granted, GpuTime used, @Nullable GpuTime remaining) {}

    /**
     * A stretch of a budget's account.
     *
     * @param statement null if it was unlimited at any time in it
     * @param used by namespace
     */
    public record Stretch(@Nullable AccountStatement statement, Map<String, GpuTime> used) {

        /** Micro-GPU-seconds by namespace. */
        public TreeMap<String, Long> byNamespace() {
            var amounts = new TreeMap<String, Long>();
            used.forEach((name, time) -> amounts.put(name, time.microGpuSeconds()));
            return amounts;
        }

        /** All namespaces together. */
        public GpuTime total() {
            return BalanceReplay.sum(used);
        }
    }

    /**
     * What was left at an instant, as the ledger knows it today.
     *
     * @param at a whole second, not in the future
     * @return empty if the budget was not counted then
     */
    public Optional<Balance> at(String budget, Instant at) {
        return snapshot.read(() -> balance(budget, at));
    }

    private Optional<Balance> balance(String budget, Instant at) {
        List<CarryOver> carryOvers = periods.carryOvers(budget, at, at);
        if (carryOvers.isEmpty() || carryOvers.getFirst().countedFrom().isAfter(at)) {
            return Optional.empty();
        }
        CarryOver last = carryOvers.getFirst();
        CarryOver next = after(carryOvers, last);
        Terms then = termsOf(terms.of(budget), next);
        if (then == null) {
            Period period = last.period();
            GpuTime used = BalanceReplay.sum(usage.used(budget, period.start(), at));
            return Optional.of(new Balance(period, null, used, null));
        }
        var uses = new Uses(budget);
        AccountStatement statement =
                AccountStatement.walk(
                        List.of(statementPeriod(budget, last, then, next)),
                        false,
                        grants.countingSince(budget, last.countedFrom()),
                        uses,
                        at,
                        at);
        Period period = periodAt(last, then, at);
        GpuTime used = uses.in(period.start(), at);
        return Optional.of(
                new Balance(period, statement.balance().plus(used), used, statement.balance()));
    }

    /**
     * How a budget went over [from, to), both whole seconds.
     *
     * @return empty if the budget was never counted before {@code to}
     */
    public Optional<Stretch> stretch(String budget, Instant from, Instant to) {
        return snapshot.read(() -> account(budget, from, to));
    }

    private Optional<Stretch> account(String budget, Instant from, Instant to) {
        // The period before says what was left at an edge.
        List<CarryOver> carryOvers = periods.carryOvers(budget, from.minusNanos(1_000), to);
        if (carryOvers.isEmpty() || !carryOvers.getFirst().countedFrom().isBefore(to)) {
            return Optional.empty();
        }
        var uses = new Uses(budget);
        return Optional.of(
                new Stretch(statement(budget, carryOvers, uses, from, to), uses.by(from, to)));
    }

    private @Nullable AccountStatement statement(
            String budget, List<CarryOver> carryOvers, Uses uses, Instant from, Instant to) {
        List<TermsRepository.Version> versions = terms.of(budget);
        var statementPeriods = new ArrayList<AccountStatement.StatementPeriod>();
        for (CarryOver carryOver : carryOvers) {
            if (carryOver.countedFrom().isAfter(to)) {
                break;
            }
            CarryOver next = after(carryOvers, carryOver);
            Terms then = termsOf(versions, next);
            if (then == null) {
                return null;
            }
            statementPeriods.add(statementPeriod(budget, carryOver, then, next));
        }
        CarryOver first = carryOvers.getFirst();
        return AccountStatement.walk(
                statementPeriods,
                !first.countedFrom().isBefore(from),
                grants.countingSince(budget, first.countedFrom()),
                uses,
                from,
                to);
    }

    /** The period that was opened after another; null if none was yet. */
    private static @Nullable CarryOver after(List<CarryOver> carryOvers, CarryOver carryOver) {
        int next = carryOvers.indexOf(carryOver) + 1;
        return next < carryOvers.size() ? carryOvers.get(next) : null;
    }

    private AccountStatement.StatementPeriod statementPeriod(
            String budget, CarryOver carryOver, Terms then, @Nullable CarryOver next) {
        Map<String, GpuTime> late =
                usage.late(
                        budget,
                        carryOver.countedFrom(),
                        carryOver.openedAt(),
                        next == null ? null : next.openedAt());
        return new AccountStatement.StatementPeriod(carryOver, then, BalanceReplay.sum(late));
    }

    /** The last terms that were seen before the period was closed; null if it was unlimited. */
    private static @Nullable Terms termsOf(
            List<TermsRepository.Version> versions, @Nullable CarryOver next) {
        if (versions.isEmpty()) {
            return null;
        }
        TermsRepository.Version last =
                next == null
                        ? versions.getLast()
                        : TermsRepository.lastBefore(versions, next.period().start());
        return (last == null ? versions.getFirst() : last).terms();
    }

    private static Period periodAt(CarryOver carryOver, Terms terms, Instant at) {
        Period opened = carryOver.period();
        return opened.end() == null || at.isBefore(opened.end()) ? opened : terms.periods().at(at);
    }

    /** What a budget used, each span read once: walks ask for the same again. */
    private final class Uses implements UsedTime {

        private final String budget;
        private final Map<List<Instant>, Map<String, GpuTime>> known = new HashMap<>();

        Uses(String budget) {
            this.budget = budget;
        }

        @Override
        public GpuTime in(Instant from, Instant to) {
            return BalanceReplay.sum(by(from, to));
        }

        /** By namespace. */
        Map<String, GpuTime> by(Instant from, Instant to) {
            return known.computeIfAbsent(List.of(from, to), span -> usage.used(budget, from, to));
        }
    }
}
