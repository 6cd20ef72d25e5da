package io.gpusharing.budget;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.PeriodRule.Unit;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code spec} of a {@code GpuBudget}, as it stands in the cluster. What the API server did not
 * default is defaulted here, so that a spec never has holes.
 *
 * @param namespaces who shares the budget
 * @param gpuMinutes whole-GPU minutes a period; null is unlimited
 * @param warnAtPercent shares of the granted time at which an Event is written
 * @param minimumRunTime how long a pod may run before reclaim may evict it, for instance {@code 5m}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuBudgetSpec(
        List<String> namespaces,
        @Nullable String gpuMinutes,
        PeriodSpec period,
        Rollover rollover,
        Debt debt,
        OnExhausted onExhausted,
        ChargeBy chargeBy,
        Share share,
        List<Integer> warnAtPercent,
        String minimumRunTime) {

    /** What happens to pods of a budget that is used up. */
    public enum OnExhausted {
        /** Everything is computed and shown, nothing is enforced. */
        Observe,
        /**
         * New pods get the over-budget class, and are evicted when somebody in budget waits; those
         * that ran before keep running.
         */
        LowerPriority,
        /** As {@code LowerPriority}; all running ones are evicted when somebody in budget waits. */
        Reclaim,
        /** New GPU pods are denied; running ones are treated as by {@code Reclaim}. */
        Refuse;

        /**
         * Whether a running pod may be evicted.
         *
         * @param lowered whether it got the over-budget class when it was admitted, by which it
         *     gives way to everybody in budget
         */
        public boolean allowsEviction(boolean lowered) {
            return switch (this) {
                case Reclaim, Refuse -> true;
                case LowerPriority -> lowered;
                case Observe -> false;
            };
        }
    }

    /** What is charged. */
    public enum ChargeBy {
        Allocation,
        Utilization
    }

    /** How calendar time is cut; see {@link PeriodRule}. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record PeriodSpec(Unit unit, String timeZone, String anchor) {

        public PeriodSpec {
            unit = Objects.requireNonNullElse(unit, Unit.Month);
            timeZone = Objects.requireNonNullElse(timeZone, "UTC");
            anchor = Objects.requireNonNullElse(anchor, "2026-01-01T00:00:00");
        }

        PeriodRule rule() {
            return new PeriodRule(unit, ZoneId.of(timeZone), LocalDateTime.parse(anchor));
        }
    }

    /** How much of an unused allowance may be used one period longer. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Rollover(String maxGpuMinutes) {

        public Rollover {
            maxGpuMinutes = Objects.requireNonNullElse(maxGpuMinutes, "0");
        }
    }

    /** How much of an overrun the next period pays, in percent of its allowance. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Debt(int maxPercent) {}

    /** How compute and memory part become one rate; see {@link ShareRule}. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Share(
            ShareRule.Formula formula, ShareRule.Reference reference, @Nullable Fixed fixed) {

        public Share {
            formula = Objects.requireNonNullElse(formula, ShareRule.Formula.Max);
            reference = Objects.requireNonNullElse(reference, ShareRule.Reference.WholeGpu);
        }
    }

    /** What counts as one with {@code reference: Fixed}, in the provider's own units. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Fixed(long compute, long memory) {}

    public GpuBudgetSpec {
        namespaces = namespaces == null ? List.of() : List.copyOf(namespaces);
        period = Objects.requireNonNullElseGet(period, GpuBudgetSpec::monthly);
        rollover = Objects.requireNonNullElseGet(rollover, () -> new Rollover("0"));
        debt = Objects.requireNonNullElseGet(debt, () -> new Debt(25));
        onExhausted = Objects.requireNonNullElse(onExhausted, OnExhausted.LowerPriority);
        chargeBy = Objects.requireNonNullElse(chargeBy, ChargeBy.Allocation);
        share =
                Objects.requireNonNullElseGet(
                        share,
                        () -> new Share(ShareRule.Formula.Max, ShareRule.Reference.WholeGpu, null));
        warnAtPercent = warnAtPercent == null ? List.of(80, 95) : List.copyOf(warnAtPercent);
        minimumRunTime = Objects.requireNonNullElse(minimumRunTime, "5m");
    }

    /**
     * The terms of a limited budget; empty if it is unlimited.
     *
     * @throws IllegalArgumentException if an amount is no number of GPU-minutes
     * @throws java.time.DateTimeException if the anchor or the time zone does not exist
     */
    public Optional<Terms> terms() {
        return Optional.ofNullable(gpuMinutes)
                .map(minutes ->
                        new Terms(
                                period.rule(),
                                GpuTime.ofMinutes(minutes),
                                GpuTime.ofMinutes(rollover.maxGpuMinutes()),
                                debt.maxPercent()));
    }

    /** {@code minimumRunTime} as a duration: a number with {@code s}, {@code m}, {@code h}. */
    @JsonIgnore
    public Duration minimumRun() {
        return Duration.parse("PT" + minimumRunTime);
    }

    /**
     * A budget of calendar months in UTC with everything else as it is by default.
     *
     * @param gpuMinutes null is unlimited
     */
    public static GpuBudgetSpec monthly(List<String> namespaces, @Nullable String gpuMinutes) {
        return new GpuBudgetSpec(
                namespaces,
                gpuMinutes,
                monthly(),
                new Rollover("0"),
                new Debt(25),
                OnExhausted.LowerPriority,
                ChargeBy.Allocation,
                new Share(ShareRule.Formula.Max, ShareRule.Reference.WholeGpu, null),
                List.of(80, 95),
                "5m");
    }

    private static PeriodSpec monthly() {
        return new PeriodSpec(Unit.Month, "UTC", "2026-01-01T00:00:00");
    }
}
