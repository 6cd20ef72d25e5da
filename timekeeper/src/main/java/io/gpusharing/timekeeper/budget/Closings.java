package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.budget.TermsBook.Version;
import io.gpusharing.timekeeper.ledger.Recomputation;
import io.gpusharing.timekeeper.ledger.UsageBook;
import io.gpusharing.timekeeper.ledger.Verification.Difference;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;

/**
 * Closes every period once more, from the one before as it was opened and from the entries, grants
 * and terms that were known when it was closed, and compares that with what was written down then.
 */
@Repository
class Closings implements Recomputation {

    /**
     * No entry that was posted after a closing is of a span older than this: while nobody posts for
     * so long, nobody closes anything either.
     */
    private static final Duration LATEST_NEWS = Duration.ofDays(31);

    private final Periods periods;
    private final GrantBook grants;
    private final TermsBook terms;
    private final UsageBook usage;

    Closings(Periods periods, GrantBook grants, TermsBook terms, UsageBook usage) {
        this.periods = periods;
        this.grants = grants;
        this.terms = terms;
        this.usage = usage;
    }

    @Override
    public Stream<Difference> differences(Instant since) {
        return periods.all().entrySet().stream()
                .flatMap(it -> differences(it.getKey(), it.getValue(), since));
    }

    private Stream<Difference> differences(String budget, List<Opening> all, Instant since) {
        List<Version> versions = terms.of(budget);
        Opening first = all.getFirst();
        return Stream.concat(
                compare(budget, first, List.of(first(first, versions))),
                IntStream.range(1, all.size())
                        .boxed()
                        .flatMap(i ->
                                compare(
                                        budget,
                                        all.get(i),
                                        closed(
                                                budget,
                                                all.get(i - 1),
                                                all.get(i).openedAt(),
                                                versions,
                                                since))));
    }

    /**
     * A first period takes over nothing. When its budget was made, nothing else tells; it is cut by
     * the terms of then, if those are known.
     */
    private static Opening first(Opening stored, List<Version> versions) {
        Instant counted = stored.countedFrom();
        List<Period> cut =
                versions.isEmpty() || versions.getFirst().generation() > 1
                        ? List.of(stored.period())
                        : versions.stream().map(it -> it.periods().at(counted)).toList();
        return new Opening(
                cut.contains(stored.period()) ? stored.period() : cut.getFirst(),
                counted,
                GpuTime.ZERO,
                GpuTime.ZERO,
                GpuTime.ZERO,
                Map.of(),
                stored.openedAt());
    }

    /** How the period after another may have been opened; nothing if that cannot be told. */
    private List<Opening> closed(
            String budget,
            Opening before,
            Instant openedAt,
            List<Version> versions,
            Instant since) {
        Instant edge = before.period().end();
        if (edge == null
                || !before.countedFrom().isBefore(edge)
                || before.countedFrom().minus(LATEST_NEWS).isBefore(since)) {
            return List.of();
        }
        List<Grant> known = grants.knownAt(openedAt, budget, before.countedFrom());
        return versions(versions, edge, openedAt).stream()
                .map(version -> closed(before, version, known, new KnownAt(openedAt, budget), edge))
                .flatMap(Optional::stream)
                .toList();
    }

    /**
     * The terms that a period may have been closed by: the last that were seen before its end, or
     * such as were seen after that and written down before it was closed. A change counts a moment
     * before it is written down, so the very first may have been written down after that. Where a
     * clock went back between two of them, nobody can say which were the last.
     */
    private static List<Version> versions(List<Version> all, Instant edge, Instant openedAt) {
        List<Version> known = all.stream().filter(it -> !it.writtenAt().isAfter(openedAt)).toList();
        if (known.isEmpty()) {
            return all.stream().limit(1).toList();
        }
        List<Version> asWritten =
                known.stream().sorted(Comparator.comparing(Version::writtenAt)).toList();
        Version last = TermsBook.lastBefore(known, edge);
        return last == null || !known.equals(asWritten)
                ? known
                : known.subList(known.indexOf(last), known.size());
    }

    /** Empty if there is no counting with these terms: such a budget had no limit. */
    private static Optional<Opening> closed(
            Opening before, Version version, List<Grant> grants, Fold.Usage usage, Instant edge) {
        try {
            return Fold.of(before, version.periods(), version.terms(), grants, usage, edge)
                    .begun()
                    .stream()
                    .findFirst();
        } catch (ArithmeticException | DateTimeException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Entries that were posted until a period was closed, and none that came later. */
    private final class KnownAt implements Fold.Usage {

        private final Instant closed;
        private final String budget;

        KnownAt(Instant closed, String budget) {
            this.closed = closed;
            this.budget = budget;
        }

        @Override
        public Map<String, GpuTime> posted(Instant from, @Nullable Instant to) {
            return usage.knownAt(closed, budget, from, Objects.requireNonNull(to));
        }

        @Override
        public Map<String, GpuTime> late(Instant before, Instant since) {
            return usage.late(budget, before, since, closed);
        }
    }

    /** What is not as in any of the possible openings, beside the first of them. */
    private static Stream<Difference> compare(
            String budget, Opening stored, List<Opening> possible) {
        Map<String, String> there = rows(stored);
        List<Map<String, String>> expected = possible.stream().map(Closings::rows).toList();
        if (expected.isEmpty() || expected.contains(there)) {
            return Stream.empty();
        }
        var names = new TreeSet<>(there.keySet());
        names.addAll(expected.getFirst().keySet());
        return names.stream()
                .filter(name -> !Objects.equals(there.get(name), expected.getFirst().get(name)))
                .map(name ->
                        new Difference(
                                "period",
                                "%s %s %s".formatted(budget, stored.period().start(), name),
                                String.valueOf(there.get(name)),
                                String.valueOf(expected.getFirst().get(name))));
    }

    /** What is stored of it, by the names of columns, and of grants by their uids. */
    private static Map<String, String> rows(Opening opening) {
        var rows = new TreeMap<String, String>();
        rows.put("period_start", opening.period().start().toString());
        rows.put("period_end", String.valueOf(opening.period().end()));
        rows.put("counted_from", opening.countedFrom().toString());
        rows.put("rolled_over", micros(opening.rolledOver()));
        rows.put("debt", micros(opening.debt()));
        rows.put("written_off", micros(opening.writtenOff()));
        opening.carried().forEach((uid, left) -> rows.put("grant_carried " + uid, micros(left)));
        return rows;
    }

    private static String micros(GpuTime time) {
        return Long.toString(time.microGpuSeconds());
    }
}
