package io.gpusharing.budget;

import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A limited budget as a function of time: what was left at {@code asOf}, how fast it is used since,
 * and what changes by itself later, when credits begin and expire and periods end.
 *
 * <p>Use only grows, so between two such steps the standing flips at most once, and everybody who
 * holds the same line computes the same standing for the same instant.
 *
 * @param asOf instant of {@code credits} and {@code overrun}
 * @param rate micro-GPUs held since then
 * @param credits what may be used, now or later
 * @param overrun what was used beyond all credits; more than none only if no active credit has any
 *     left
 * @param terms what each later period brings
 * @param periodEnd end of the period that contains {@code asOf}, as it was fixed when the period
 *     was opened; null if it never ends
 */
public record BudgetLine(
        Instant asOf,
        long rate,
        List<Credit> credits,
        GpuTime overrun,
        Terms terms,
        @Nullable Instant periodEnd) {

    public BudgetLine {
        var ordered = new ArrayList<>(credits);
        ordered.sort(Credit.BURN_ORDER);
        credits = List.copyOf(ordered);
    }

    /** RFC 3339 ends with the year 9999; what would come later never comes. */
    private static final Instant END_OF_TIME = Instant.parse("9999-12-31T23:59:59Z");

    /** The line of a budget of which nothing was used yet. */
    public static BudgetLine unused(Instant asOf, Terms terms) {
        Instant end = terms.periods().at(asOf).end();
        Credit allowance = new Credit(Credit.ALLOWANCE, terms.allowance(), asOf, end);
        return new BudgetLine(asOf, 0, List.of(allowance), GpuTime.ZERO, terms, end);
    }

    /** What is left at {@code asOf}; negative by what was overrun. */
    public GpuTime remaining() {
        GpuTime active = GpuTime.ZERO;
        for (Credit credit : credits) {
            if (credit.activeAt(asOf)) {
                active = active.plus(credit.remaining());
            }
        }
        return active.minus(overrun);
    }

    /**
     * The standing at an instant. For an instant before {@code asOf} it is the one at {@code asOf}:
     * the line knows no past.
     */
    public Standing standingAt(Instant now) {
        BudgetLine line = at(now);
        GpuTime left = line.remaining();
        return left.isPositive()
                ? new InBudget(left, line.exhaustedAt())
                : new OverBudget(GpuTime.ZERO.minus(left));
    }

    /**
     * The same line as of a later instant: use is taken from the credits, what expired is gone,
     * what began is there, and periods that ended have brought their next allowance.
     */
    public BudgetLine at(Instant now) {
        Walk walk = new Walk();
        Instant step = walk.nextStep();
        while (step != null && !step.isAfter(now)) {
            walk.useUntil(step);
            walk.takeStep();
            step = walk.nextStep();
        }
        if (now.isAfter(walk.instant)) {
            walk.useUntil(now);
        }
        return walk.line();
    }

    /**
     * The same line as of a later instant, when exactly so much was used in between: how the
     * ledger, which knows what was used, goes from step to step.
     *
     * @param until not after {@link #nextStep}; a step at that very instant is taken
     * @throws IllegalArgumentException if a step lies between, or {@code until} before {@code asOf}
     */
    public BudgetLine after(GpuTime used, Instant until) {
        Walk walk = new Walk();
        Instant step = walk.nextStep();
        if (until.isBefore(asOf) || (step != null && step.isBefore(until))) {
            throw new IllegalArgumentException(
                    "From " + asOf + " to " + until + " there is a step at " + step);
        }
        walk.use(used);
        walk.instant = until;
        if (until.equals(step)) {
            walk.takeStep();
        }
        return walk.line();
    }

    /** The same line with another rate from {@code asOf} on. */
    public BudgetLine withRate(long micros) {
        return new BudgetLine(asOf, micros, credits, overrun, terms, periodEnd);
    }

    /** The next instant at which something changes by itself; null if nothing ever does. */
    public @Nullable Instant nextStep() {
        return new Walk().nextStep();
    }

    /**
     * The first instant from {@code asOf} on at which nothing is left at the present rate, rounded
     * up to the microsecond, searched until the period ends; null if there is none.
     */
    public @Nullable Instant exhaustedAt() {
        return whenRemaining(GpuTime.ZERO);
    }

    /**
     * The first instant at which no more than {@code threshold} is left at the present rate, looked
     * for until the period ends; null if there is none.
     *
     * @param threshold none or more
     */
    public @Nullable Instant whenRemaining(GpuTime threshold) {
        Walk walk = new Walk();
        while (true) {
            GpuTime spare = walk.line().remaining().minus(threshold);
            if (!spare.isPositive()) {
                return walk.instant;
            }
            Instant reached = walk.whenUsed(spare);
            Instant step = walk.nextStep();
            if (reached != null && (step == null || reached.isBefore(step))) {
                return reached;
            }
            if (step == null || step.equals(periodEnd)) {
                return null;
            }
            walk.useUntil(step);
            walk.takeStep();
        }
    }

    /** Goes along the line from step to step. */
    private final class Walk {

        private Instant instant = asOf;
        private List<Credit> left = credits;
        private GpuTime over = overrun;
        private @Nullable Instant end = periodEnd;

        BudgetLine line() {
            return new BudgetLine(instant, rate, left, over, terms, end);
        }

        /** The next instant at which something changes by itself; null if nothing ever does. */
        @Nullable Instant nextStep() {
            Instant next = end;
            for (Credit credit : left) {
                next = soonest(soonest(next, credit.from()), credit.until());
            }
            return next;
        }

        private @Nullable Instant soonest(@Nullable Instant known, @Nullable Instant candidate) {
            boolean sooner =
                    candidate != null
                            && candidate.isAfter(instant)
                            && (known == null || candidate.isBefore(known));
            return sooner ? candidate : known;
        }

        void useUntil(Instant to) {
            // Counted from asOf, so that the number of steps in between rounds nothing.
            GpuTime before = GpuTime.accrued(rate, asOf, instant);
            use(GpuTime.accrued(rate, asOf, to).minus(before));
            instant = to;
        }

        /** When so much more will have been used; null at rate 0, and beyond all calendars. */
        @Nullable Instant whenUsed(GpuTime amount) {
            if (rate == 0) {
                return null;
            }
            long total = GpuTime.accrued(rate, asOf, instant).plus(amount).microGpuSeconds();
            long seconds = total / rate;
            if (seconds >= asOf.until(END_OF_TIME, ChronoUnit.SECONDS)) {
                return null;
            }
            long micros =
                    BigInteger.valueOf(total % rate)
                            .multiply(BigInteger.valueOf(1_000_000))
                            .add(BigInteger.valueOf(rate - 1))
                            .divide(BigInteger.valueOf(rate))
                            .longValueExact();
            return asOf.plusSeconds(seconds).plus(micros, ChronoUnit.MICROS);
        }

        void takeStep() {
            boolean periodEnds = instant.equals(end);
            GpuTime unused =
                    left.stream()
                            .filter(credit -> instant.equals(credit.until()))
                            .filter(credit -> credit.source().equals(Credit.ALLOWANCE))
                            .map(Credit::remaining)
                            .reduce(GpuTime.ZERO, GpuTime::plus);
            left = left.stream().filter(credit -> !instant.equals(credit.until())).toList();
            if (periodEnds) {
                openPeriod(unused);
            }
            GpuTime owed = over;
            over = GpuTime.ZERO;
            use(owed);
        }

        private void openPeriod(GpuTime unused) {
            end = terms.periods().at(instant).end();
            over = over.min(terms.allowance().percent(terms.maxDebtPercent()));
            var opened = new ArrayList<>(left);
            opened.add(new Credit(Credit.ALLOWANCE, terms.allowance(), instant, end));
            GpuTime rolled = unused.min(terms.maxRollover());
            if (rolled.isPositive()) {
                opened.add(new Credit(Credit.ROLLOVER, rolled, instant, end));
            }
            opened.sort(Credit.BURN_ORDER);
            left = opened;
        }

        private void use(GpuTime amount) {
            GpuTime open = amount;
            var after = new ArrayList<Credit>(left.size());
            for (Credit credit : left) {
                GpuTime part =
                        credit.activeAt(instant) ? open.min(credit.remaining()) : GpuTime.ZERO;
                after.add(credit.withRemaining(credit.remaining().minus(part)));
                open = open.minus(part);
            }
            left = after;
            over = over.plus(open);
        }
    }
}
