package io.gpusharing.timekeeper.audit;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.audit.Verification.Difference;
import io.gpusharing.timekeeper.budget.BudgetUsage;
import io.gpusharing.timekeeper.budget.account.BalanceReplay;
import io.gpusharing.timekeeper.budget.account.CarryOver;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository.Version;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
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
import org.springframework.stereotype.Repository;

/**
 * Closes every period once more, from the one before as it was opened and from the entries, grants
 * and terms that were known when it was closed, and compares that with what was written down then.
 */
@Repository
public class ClosedPeriodCheck implements Recomputation {

    /**
     * No entry that was posted after a closing is of a span older than this: while nobody posts for
     * so long, nobody closes anything either.
     */
    private static final Duration LATEST_EVENT = Duration.ofDays(31);

    private final PeriodRepository periods;
    private final GrantRepository grants;
    private final TermsRepository terms;
    private final UsageRepository usage;

    public ClosedPeriodCheck(
            PeriodRepository periods,
            GrantRepository grants,
            TermsRepository terms,
            UsageRepository usage) {
        this.periods = periods;
        this.grants = grants;
        this.terms = terms;
        this.usage = usage;
    }

    @Override
    public Stream<Difference> differences(Instant kept, Instant written) {
        return periods.all().entrySet().stream()
                .flatMap(it -> differences(it.getKey(), it.getValue(), kept, written));
    }

    private Stream<Difference> differences(
            String budget, List<CarryOver> all, Instant kept, Instant written) {
        List<Integer> opened =
                IntStream.range(0, all.size())
                        .filter(i -> !all.get(i).openedAt().isBefore(written))
                        .boxed()
                        .toList();
        List<Version> versions = opened.isEmpty() ? List.of() : terms.of(budget);
        return opened.stream()
                .flatMap(i ->
                        compare(
                                budget,
                                all.get(i),
                                i == 0
                                        ? List.of(first(all.getFirst(), versions))
                                        : closed(
                                                budget,
                                                all.get(i - 1),
                                                all.get(i).openedAt(),
                                                versions,
                                                kept)));
    }

    /**
     * A first period takes over nothing. Nothing else says when its budget was made; it is cut by
     * the terms of then, if those are known.
     */
    private static CarryOver first(CarryOver stored, List<Version> versions) {
        Instant counted = stored.countedFrom();
        List<Period> cut =
                versions.isEmpty() || versions.getFirst().generation() > 1
                        ? List.of(stored.period())
                        : versions.stream().map(it -> it.periods().at(counted)).toList();
        return new CarryOver(
                cut.contains(stored.period()) ? stored.period() : cut.getFirst(),
                counted,
                GpuTime.ZERO,
                GpuTime.ZERO,
                GpuTime.ZERO,
                Map.of(),
                stored.openedAt());
    }

    /** How the period after another may have been opened; nothing if nobody can know. */
    private List<CarryOver> closed(
            String budget,
            CarryOver before,
            Instant openedAt,
            List<Version> versions,
            Instant kept) {
        Instant edge = before.period().end();
        if (edge == null
                || !before.countedFrom().isBefore(edge)
                || before.countedFrom().minus(LATEST_EVENT).isBefore(kept)) {
            return List.of();
        }
        List<Grant> known = grants.knownAt(openedAt, budget, before.countedFrom());
        // What was posted until it was closed, and nothing that came later.
        var used = new BudgetUsage(usage, budget, openedAt);
        return versions(versions, edge, openedAt).stream()
                .map(version -> closed(before, version, known, used, edge))
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
        List<Version> asSeen =
                known.stream().sorted(Comparator.comparing(Version::seenAt)).toList();
        Version last = TermsRepository.lastBefore(known, edge);
        return last == null || !known.equals(asSeen)
                ? known
                : known.subList(known.indexOf(last), known.size());
    }

    /** Empty if there is no counting with these terms: such a budget had no limit. */
    private static Optional<CarryOver> closed(
            CarryOver before,
            Version version,
            List<Grant> grants,
            BalanceReplay.Usage usage,
            Instant edge) {
        try {
            return BalanceReplay.of(before, version.periods(), version.terms(), grants, usage, edge)
                    .begun()
                    .stream()
                    .findFirst();
        } catch (ArithmeticException | DateTimeException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** What is not as in any of the possible openings, beside the first of them. */
    private static Stream<Difference> compare(
            String budget, CarryOver stored, List<CarryOver> possible) {
        Map<String, String> there = rows(stored);
        List<Map<String, String>> expected =
                possible.stream().map(ClosedPeriodCheck::rows).toList();
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
    private static Map<String, String> rows(CarryOver carryOver) {
        var rows = new TreeMap<String, String>();
        rows.put("period_start", carryOver.period().start().toString());
        rows.put("period_end", String.valueOf(carryOver.period().end()));
        rows.put("counted_from", carryOver.countedFrom().toString());
        rows.put("rolled_over", micros(carryOver.rolledOver()));
        rows.put("debt", micros(carryOver.debt()));
        rows.put("written_off", micros(carryOver.writtenOff()));
        carryOver.carried().forEach((uid, left) -> rows.put("grant_carried " + uid, micros(left)));
        return rows;
    }

    private static String micros(GpuTime time) {
        return Long.toString(time.microGpuSeconds());
    }
}
