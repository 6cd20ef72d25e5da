package io.gpusharing.cli.budget;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.ApiTime;
import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.InBudget;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.budget.Standing.Unlimited;
import io.gpusharing.request.GpuShare;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A budget at an instant, as {@code -o json} writes it. Minutes are whole-GPU minutes, rounded to
 * thousandths, instants RFC 3339 in UTC, as in its status.
 *
 * @param standing {@code InBudget}, {@code OverBudget}, {@code Unlimited}, {@code Misspelled} or
 *     {@code Inactive}
 * @param grantedMinutes null if it is unlimited, as all that follows from it
 * @param usedPercent of what is granted, rounded down; null where nothing is
 * @param leftMinutes negative by what was overrun
 * @param exhaustedAt when it is used up at the present rate, or was; null if it is not in this
 *     period
 * @param resetsAt when the next period begins; null if none does
 * @param leftAtResetMinutes what will be left then at the present rate
 * @param asOf instant of the status from which this was computed; null if it has none yet
 * @param zone in which its days begin
 * @param doubt why this may not be right, in words; null if nothing speaks against it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record BudgetView(
        String name,
        String standing,
        @Nullable String grantedMinutes,
        String usedMinutes,
        @Nullable Long usedPercent,
        @Nullable String leftMinutes,
        String rateGpus,
        @Nullable String exhaustedAt,
        @Nullable String resetsAt,
        @Nullable String leftAtResetMinutes,
        List<String> namespaces,
        String period,
        String chargeBy,
        String onExhausted,
        @Nullable String asOf,
        @JsonIgnore ZoneId zone,
        @JsonIgnore @Nullable String doubt) {

    /** The timekeeper writes a status twice a minute while something is used. */
    private static final Duration OLD = Duration.ofMinutes(3);

    static BudgetView at(PublishedBudget budget, Instant now) {
        GpuBudgetSpec spec = budget.spec();
        GpuBudgetStatus status = budget.status();
        Optional<InvalidSpec> invalid = InvalidSpec.of(spec);
        Optional<BudgetLine> line = invalid.isPresent() ? Optional.empty() : budget.line();
        Instant asOf = status == null ? null : ApiTime.readPresent(status.asOf());
        // A spec that makes no sense has no calendar, either.
        GpuTime used = budget.usedAt(invalid.isPresent() && asOf != null ? asOf : now);
        Standing standing = line.<Standing>map(it -> it.standingAt(now)).orElseGet(Unlimited::new);
        Optional<BudgetLine> present = line.map(it -> it.at(now));
        Optional<GpuTime> left = present.map(BudgetLine::remaining);
        Instant resets = present.map(BudgetLine::periodEnd).orElse(null);
        long rate = status == null || status.rate() == null ? 0 : status.rate();
        return new BudgetView(
                budget.name(),
                budget.standingWord(now),
                left.map(it -> it.plus(used).minutes()).orElse(null),
                used.minutes(),
                left.flatMap(it -> percent(used, it.plus(used))).orElse(null),
                left.map(GpuTime::minutes).orElse(null),
                GpuShare.inGpus(rate),
                text(exhaustedAt(standing, line, status, now)),
                text(resets),
                resets == null ? null : present.map(it -> beforeReset(it, resets)).orElse(null),
                spec.namespaces(),
                spec.period().unit().name(),
                spec.chargeBy().name(),
                spec.onExhausted().name(),
                text(asOf),
                BudgetZone.of(spec),
                doubt(budget, invalid, line.isPresent(), asOf, rate, now));
    }

    private static Optional<Long> percent(GpuTime used, GpuTime granted) {
        return granted.isPositive()
                ? Optional.of(
                        BigDecimal.valueOf(used.microGpuSeconds())
                                .movePointRight(2)
                                .divideToIntegralValue(
                                        BigDecimal.valueOf(granted.microGpuSeconds()))
                                .longValue())
                : Optional.empty();
    }

    private static @Nullable Instant exhaustedAt(
            Standing standing,
            Optional<BudgetLine> line,
            @Nullable GpuBudgetStatus status,
            Instant now) {
        return switch (standing) {
            case InBudget in -> in.exhaustedAt();
            case OverBudget over -> exhaustedSince(line.orElseThrow(), status, now);
            case Unlimited none -> null;
        };
    }

    /** The status knows when it was used up where that was before the status; the line does not. */
    private static @Nullable Instant exhaustedSince(
            BudgetLine line, @Nullable GpuBudgetStatus status, Instant now) {
        Instant end = line.periodEnd();
        if (end != null && !end.isAfter(now)) {
            return line.terms().periods().at(now).start();
        }
        return !line.remaining().isPositive() && status != null && status.exhaustedAt() != null
                ? ApiTime.read(status.exhaustedAt())
                : line.exhaustedAt();
    }

    private static String beforeReset(BudgetLine present, Instant resets) {
        return present.at(resets.minus(1, ChronoUnit.MICROS)).remaining().minutes();
    }

    private static @Nullable String doubt(
            PublishedBudget budget,
            Optional<InvalidSpec> invalid,
            boolean limited,
            @Nullable Instant asOf,
            long rate,
            Instant now) {
        if (invalid.isPresent()) {
            return invalid.get().message() + "; until then it has no limit";
        }
        if (!limited && budget.spec().gpuMinutes() != null) {
            return "it is not understood, and has no limit until it is; kubectl describe gpubudget %s says why"
                    .formatted(budget.name());
        }
        if (budget.status() != null && budget.status().problem() != null) {
            return budget.status().problem();
        }
        if (asOf == null) {
            return budget.created().isBefore(now.minus(OLD))
                    ? "it has no status: no timekeeper has counted what it used"
                    : null;
        }
        // Where nothing is used, nothing is written.
        return rate > 0 && asOf.isBefore(now.minus(OLD))
                ? "its status is from %s, %s; the timekeeper seems to be down, and pods that came or ended since are not in it"
                        .formatted(asOf, Span.from(now, asOf))
                : null;
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
