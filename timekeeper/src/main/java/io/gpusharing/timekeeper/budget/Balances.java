package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.Terms;
import io.gpusharing.timekeeper.database.Snapshot;
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
    private final UsageBook usage;

    Balances(
            Snapshot snapshot,
            Periods periods,
            GrantBook grants,
            TermsBook terms,
            UsageBook usage) {
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
            return Fold.sum(used);
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
        Opening last = openings.getFirst();
        Opening next = after(openings, last);
        Terms then = termsOf(terms.of(budget), next);
        if (then == null) {
            Period period = last.period();
            GpuTime used = Fold.sum(usage.used(budget, period.start(), at));
            return Optional.of(new Balance(period, null, used, null));
        }
        var uses = new Uses(budget);
        Course course =
                Course.walk(
                        List.of(chapter(budget, last, then, next)),
                        false,
                        grants.countingSince(budget, last.countedFrom()),
                        uses,
                        at,
                        at);
        Period period = periodAt(last, then, at);
        GpuTime used = uses.in(period.start(), at);
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
        var uses = new Uses(budget);
        return Optional.of(
                new Stretch(course(budget, openings, uses, from, to), uses.by(from, to)));
    }

    private @Nullable Course course(
            String budget, List<Opening> openings, Uses uses, Instant from, Instant to) {
        List<TermsBook.Version> versions = terms.of(budget);
        var chapters = new ArrayList<Course.Chapter>();
        for (Opening opening : openings) {
            if (opening.countedFrom().isAfter(to)) {
                break;
            }
            Opening next = after(openings, opening);
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
                uses,
                from,
                to);
    }

    /** The period that was opened after another; null if none was yet. */
    private static @Nullable Opening after(List<Opening> openings, Opening opening) {
        int next = openings.indexOf(opening) + 1;
        return next < openings.size() ? openings.get(next) : null;
    }

    private Course.Chapter chapter(
            String budget, Opening opening, Terms then, @Nullable Opening next) {
        Map<String, GpuTime> late =
                usage.late(
                        budget,
                        opening.countedFrom(),
                        opening.openedAt(),
                        next == null ? null : next.openedAt());
        return new Course.Chapter(opening, then, Fold.sum(late));
    }

    /** The last terms that were seen before the period was closed; null if it was unlimited. */
    private static @Nullable Terms termsOf(
            List<TermsBook.Version> versions, @Nullable Opening next) {
        if (versions.isEmpty()) {
            return null;
        }
        TermsBook.Version last =
                next == null
                        ? versions.getLast()
                        : TermsBook.lastBefore(versions, next.period().start());
        return (last == null ? versions.getFirst() : last).terms();
    }

    private static Period periodAt(Opening opening, Terms terms, Instant at) {
        Period opened = opening.period();
        return opened.end() == null || at.isBefore(opened.end()) ? opened : terms.periods().at(at);
    }

    /** What a budget used, each span read once: walks ask for the same again. */
    private final class Uses implements Course.Used {

        private final String budget;
        private final Map<List<Instant>, Map<String, GpuTime>> known = new HashMap<>();

        Uses(String budget) {
            this.budget = budget;
        }

        @Override
        public GpuTime in(Instant from, Instant to) {
            return Fold.sum(by(from, to));
        }

        /** By namespace. */
        Map<String, GpuTime> by(Instant from, Instant to) {
            return known.computeIfAbsent(List.of(from, to), span -> usage.used(budget, from, to));
        }
    }
}
