package io.gpusharing.timekeeper.budget.account;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.Credit;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.Terms;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a period began: what it took over from the one before.
 *
 * @param countedFrom its start, or the creation of the budget in its first period
 * @param rolledOver what was left of the last allowance and may still be used
 * @param debt what the last period overran and this one pays
 * @param writtenOff what the last period overran above the cap
 * @param carried what was left of older grants, by uid
 * @param openedAt when this was written down; what is posted later for earlier spans counts here
 */
public record CarryOver(
        Period period,
        Instant countedFrom,
        GpuTime rolledOver,
        GpuTime debt,
        GpuTime writtenOff,
        Map<String, GpuTime> carried,
        Instant openedAt) {

    /**
     * The opening of the period that follows.
     *
     * @param before the line just before the step into it; null if the budget is unlimited
     * @param used what was used since that line began
     * @param after the line that the step led to; null if the budget is unlimited
     * @param grants all that may have a credit in {@code after}
     */
    static CarryOver following(
            @Nullable BudgetLine before,
            GpuTime used,
            @Nullable BudgetLine after,
            List<Grant> grants,
            Period period) {
        GpuTime debt = GpuTime.ZERO;
        GpuTime writtenOff = GpuTime.ZERO;
        GpuTime rolledOver = GpuTime.ZERO;
        var carried = new HashMap<String, GpuTime>();
        if (before != null && after != null) {
            Terms terms = before.terms();
            GpuTime over = used.minus(before.remaining());
            if (over.isPositive()) {
                debt = over.min(terms.allowance().percent(terms.maxDebtPercent()));
                writtenOff = over.minus(debt);
            }
            for (Credit credit : after.credits()) {
                if (credit.source().equals(Credit.ROLLOVER)) {
                    rolledOver = credit.remaining();
                }
                // One that begins with the period is whole until this opening's debt is taken.
                grants.stream()
                        .filter(grant -> grant.from().isBefore(period.start()))
                        .filter(grant -> grant.isSourceOf(credit))
                        .forEach(grant -> carried.put(grant.uid(), credit.remaining()));
            }
        }
        return new CarryOver(
                period, period.start(), rolledOver, debt, writtenOff, carried, Instant.MAX);
    }

    /**
     * The line with which the period begins.
     *
     * @param grants all that count in it or later
     */
    BudgetLine line(Terms terms, List<Grant> grants) {
        Instant end = period.end();
        var credits = new ArrayList<Credit>();
        credits.add(new Credit(Credit.ALLOWANCE, terms.allowance(), countedFrom, end));
        if (rolledOver.isPositive()) {
            credits.add(new Credit(Credit.ROLLOVER, rolledOver, countedFrom, end));
        }
        for (Grant grant : grants) {
            GpuTime left = carried.getOrDefault(grant.uid(), grant.amount());
            Credit credit = grant.credit(left, terms.periods());
            if (countsAfter(credit, countedFrom)) {
                credits.add(credit);
            }
        }
        // What is owed is used at once.
        return new BudgetLine(countedFrom, 0, credits, GpuTime.ZERO, terms, end)
                .after(debt, countedFrom);
    }

    private static boolean countsAfter(Credit credit, Instant instant) {
        Instant until = credit.until();
        return until == null || (until.isAfter(instant) && until.isAfter(credit.from()));
    }
}
