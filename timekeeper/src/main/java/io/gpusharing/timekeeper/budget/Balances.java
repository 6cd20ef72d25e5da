package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.database.Snapshot;
import io.gpusharing.timekeeper.ledger.StatementBook;
import io.gpusharing.timekeeper.ledger.UsageBook;
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
    private final Periods periods;
    private final GrantBook grants;
    private final TermsBook terms;
    private final UsageBook posted;
    private final StatementBook statements;

    Balances(
            Snapshot snapshot,
            Periods periods,
            GrantBook grants,
            TermsBook terms,
            UsageBook posted,
            StatementBook statements) {
        this.snapshot = snapshot;
        this.periods = periods;
        this.grants = grants;
        this.terms = terms;
        this.posted = posted;
        this.statements = statements;
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
     * @param course null if it was unlimited at any time in it
     * @param used by namespace
     */
    public record Stretch(@Nullable Course course, Map<String, GpuTime> used) {

        /** Micro-GPU-seconds by namespace. */
        public TreeMap<String, Long> byNamespace() {
            var amounts = new TreeMap<String, Long>();
            used.forEach((name, time) -> amounts.put(name, time.microGpuSeconds()));
            return amounts;
        }

        /** All namespaces together. */
        public GpuTime total() {
            return used.values().stream().reduce(GpuTime.ZERO, GpuTime::plus);
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
        List<Opening> openings = periods.openings(budget, at, at);
        if (openings.isEmpty() || openings.getFirst().countedFrom().isAfter(at)) {
            return Optional.empty();
        }
        Opening last = openings.getLast();
        Opening next = next(budget, last);
        Terms then = termsOf(terms.of(budget), next);
        if (then == null) {
            Period period = last.period();
            return Optional.of(new Balance(period, null, used(budget, period.start(), at), null));
        }
        Course.Used usage = usage(budget);
        Course course =
                Course.walk(
                        List.of(chapter(budget, last, then, next)),
                        false,
                        grants.countingSince(budget, last.countedFrom()),
                        usage,
                        at,
                        at);
        Period period = periodAt(last, then, at);
        GpuTime used = usage.in(period.start(), at);
        return Optional.of(
                new Balance(period, course.balance().plus(used), used, course.balance()));
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
        // The period before tells what was left at an edge.
        List<Opening> openings = periods.openings(budget, from.minusNanos(1_000), to);
        if (openings.isEmpty() || !openings.getFirst().countedFrom().isBefore(to)) {
            return Optional.empty();
        }
        var used = new TreeMap<>(posted.used(budget, from, to));
        statements
                .open(budget, from, to)
                .forEach((name, more) -> used.merge(name, more, GpuTime::plus));
        return Optional.of(new Stretch(course(budget, openings, from, to), used));
    }

    private @Nullable Course course(
            String budget, List<Opening> openings, Instant from, Instant to) {
        List<TermsBook.Version> versions = terms.of(budget);
        var chapters = new ArrayList<Course.Chapter>();
        for (int i = 0; i < openings.size(); i++) {
            Opening opening = openings.get(i);
            Opening next = i + 1 < openings.size() ? openings.get(i + 1) : null;
            Terms then = termsOf(versions, next);
            if (then == null) {
                return null;
            }
            chapters.add(chapter(budget, opening, then, next));
        }
        Opening first = openings.getFirst();
        return Course.walk(
                chapters,
                !first.countedFrom().isBefore(from),
                grants.countingSince(budget, first.countedFrom()),
                usage(budget),
                from,
                to);
    }

    /** The period that was opened after another; null if none was yet. */
    private @Nullable Opening next(String budget, Opening opening) {
        Instant end = opening.period().end();
        return end == null
                ? null
                : periods.openings(budget, end, end).stream()
                        .filter(it -> it.countedFrom().isAfter(opening.countedFrom()))
                        .findFirst()
                        .orElse(null);
    }

    private Course.Chapter chapter(
            String budget, Opening opening, Terms then, @Nullable Opening next) {
        Map<String, GpuTime> late =
                posted.late(
                        budget,
                        opening.countedFrom(),
                        opening.openedAt(),
                        next == null ? null : next.openedAt());
        return new Course.Chapter(opening, then, sum(late));
    }

    /** The last terms that were seen before the period was closed; null if it was unlimited. */
    private static @Nullable Terms termsOf(
            List<TermsBook.Version> versions, @Nullable Opening next) {
        TermsBook.Version found = null;
        for (TermsBook.Version version : versions) {
            if (found == null || next == null || version.seenAt().isBefore(next.period().start())) {
                found = version;
            }
        }
        return found == null ? null : found.terms();
    }

    private static Period periodAt(Opening opening, Terms terms, Instant at) {
        Period opened = opening.period();
        return opened.end() == null || at.isBefore(opened.end()) ? opened : terms.periods().at(at);
    }

    /** What a budget used, each span read once: walks ask for the same again. */
    private Course.Used usage(String budget) {
        var known = new HashMap<List<Instant>, GpuTime>();
        return (from, to) ->
                known.computeIfAbsent(List.of(from, to), span -> used(budget, from, to));
    }

    private GpuTime used(String budget, Instant from, Instant to) {
        return from.isBefore(to)
                ? sum(posted.used(budget, from, to)).plus(sum(statements.open(budget, from, to)))
                : GpuTime.ZERO;
    }

    private static GpuTime sum(Map<String, GpuTime> used) {
        return used.values().stream().reduce(GpuTime.ZERO, GpuTime::plus);
    }
}
