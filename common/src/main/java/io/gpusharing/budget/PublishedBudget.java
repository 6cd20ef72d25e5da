package io.gpusharing.budget;

import io.gpusharing.ApiTime;
import io.gpusharing.budget.GpuBudgetStatus.CreditEntry;
import io.gpusharing.budget.Standing.Unlimited;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A budget as anybody who may read {@code gpubudgets} sees it. Webhook and timekeeper ask the same
 * function of it, so they give the same answer, exact to the second, also while the timekeeper is
 * down.
 *
 * @param name name of the {@code GpuBudget}
 * @param created its creation timestamp: what a budget without a status is counted from
 * @param spec what the administrator wrote
 * @param status what the timekeeper published last; null before the first time
 */
public record PublishedBudget(
        String name, Instant created, GpuBudgetSpec spec, @Nullable GpuBudgetStatus status) {

    /** Of several that name a namespace, the first in this order pays for it. */
    public static final Comparator<PublishedBudget> OLDER_FIRST =
            Comparator.comparing(PublishedBudget::created).thenComparing(PublishedBudget::name);

    /** Returns the name of the budget that pays for each namespace that one of these names. */
    public static Map<String, String> owners(Stream<PublishedBudget> budgets) {
        var owners = new HashMap<String, String>();
        budgets.sorted(OLDER_FIRST)
                .forEach(budget ->
                        budget.spec()
                                .namespaces()
                                .forEach(
                                        namespace -> owners.putIfAbsent(namespace, budget.name())));
        return owners;
    }

    /**
     * The standing at an instant.
     *
     * @throws IllegalArgumentException if spec or status hold what their schema forbids
     */
    public Standing standingAt(Instant now) {
        return line().<Standing>map(line -> line.standingAt(now)).orElseGet(Unlimited::new);
    }

    /** What people read where the spec makes no sense: the budget is counted without a limit. */
    public static final String MISSPELLED = "Misspelled";

    /** What people read where no namespace of the list draws on the budget. */
    public static final String INACTIVE = "Inactive";

    /**
     * What people read of its standing at an instant: the word of the standing, {@link #MISSPELLED}
     * or {@link #INACTIVE}. The last one only the status knows: it depends on other objects.
     */
    public String standingWord(Instant now) {
        if (!understood() || InvalidSpec.of(spec).isPresent()) {
            return MISSPELLED;
        }
        return status != null && INACTIVE.equals(status.standing())
                ? INACTIVE
                : standingAt(now).word();
    }

    /** Condition of whether the timekeeper could make sense of the spec. */
    public static final String UNDERSTOOD = "Understood";

    /** The budget's line; empty if it is unlimited, or not understood by who counts it. */
    public Optional<BudgetLine> line() {
        return understood() ? spec.terms().map(this::line) : Optional.empty();
    }

    /**
     * What was used of the period that contains an instant, at the rate of the status; of the one
     * of the status if the instant is earlier.
     *
     * @throws java.time.DateTimeException if that period has ended, and the spec names no time zone
     *     or anchor that there is
     */
    public GpuTime usedAt(Instant now) {
        if (status == null || status.asOf() == null) {
            return GpuTime.ZERO;
        }
        Instant asOf = ApiTime.read(status.asOf());
        Instant to = now.isBefore(asOf) ? asOf : now;
        long rate = status.rate() == null ? 0 : status.rate();
        Instant end = end();
        if (end == null || to.isBefore(end)) {
            GpuTime before = status.used() == null ? GpuTime.ZERO : new GpuTime(status.used());
            return before.plus(GpuTime.accrued(rate, asOf, to));
        }
        Instant start = spec.period().rule().at(to).start();
        return GpuTime.accrued(rate, start.isBefore(end) ? end : start, to);
    }

    /** End of the period of the status. */
    private @Nullable Instant end() {
        return status == null || status.period() == null || status.period().end() == null
                ? null
                : ApiTime.read(status.period().end());
    }

    private boolean understood() {
        return status == null
                || status.conditions() == null
                || status.conditions().stream()
                        .noneMatch(
                                it -> it.type().equals(UNDERSTOOD) && it.status().equals("False"));
    }

    private BudgetLine line(Terms terms) {
        // An unlimited budget that has just got a limit still publishes a line without credits.
        if (status == null || status.asOf() == null || status.remaining() == null) {
            return BudgetLine.unused(created, terms);
        }
        Instant asOf = ApiTime.read(status.asOf());
        List<Credit> credits =
                status.credits() == null
                        ? List.of()
                        : status.credits().stream().map(PublishedBudget::credit).toList();
        GpuTime active =
                credits.stream()
                        .filter(credit -> credit.activeAt(asOf))
                        .map(Credit::remaining)
                        .reduce(GpuTime.ZERO, GpuTime::plus);
        return new BudgetLine(
                asOf,
                status.rate() == null ? 0 : status.rate(),
                credits,
                active.minus(new GpuTime(status.remaining())),
                terms,
                end());
    }

    private static Credit credit(CreditEntry entry) {
        return new Credit(
                entry.source(),
                new GpuTime(entry.remaining()),
                ApiTime.read(entry.from()),
                entry.until() == null ? null : ApiTime.read(entry.until()));
    }
}
