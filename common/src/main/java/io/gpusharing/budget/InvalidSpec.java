package io.gpusharing.budget;

import io.gpusharing.budget.GpuBudgetSpec.PeriodSpec;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Why a budget's spec makes no sense although its schema lets it pass: a schema knows how a time
 * zone is written, and not which there are.
 *
 * @param field path of the field, for instance {@code spec.period.timeZone}
 * @param found what stands there
 * @param legal what may stand there
 */
public record InvalidSpec(String field, String found, String legal) {

    private static final int FIRST_YEAR = 1970;
    private static final int LAST_YEAR = 2999;

    /** What is wrong with a spec first; empty if it is understood. */
    public static Optional<InvalidSpec> of(GpuBudgetSpec spec) {
        return all(spec).stream().findFirst();
    }

    /** Everything that is wrong with a spec, field by field; empty if it is understood. */
    public static List<InvalidSpec> all(GpuBudgetSpec spec) {
        PeriodSpec period = spec.period();
        return Stream.of(
                        timeZone(period.timeZone()),
                        anchor(period.anchor()),
                        minutes("spec.gpuMinutes", spec.gpuMinutes()),
                        minutes("spec.rollover.maxGpuMinutes", spec.rollover().maxGpuMinutes()),
                        percent("spec.debt.maxPercent", spec.debt().maxPercent()),
                        spec.warnAtPercent().stream()
                                .flatMap(it -> percent("spec.warnAtPercent", it).stream())
                                .findFirst(),
                        fixed(spec.share()),
                        minimumRunTime(spec))
                .flatMap(Optional::stream)
                .toList();
    }

    /** A sentence for who has to mend it. */
    public String message() {
        return "%s is \"%s\"; use %s".formatted(field, found, legal);
    }

    private static Optional<InvalidSpec> timeZone(String zone) {
        try {
            ZoneId.of(zone);
            return Optional.empty();
        } catch (DateTimeException e) {
            return invalidSpec(
                    "spec.period.timeZone",
                    zone,
                    "an IANA name, for instance Europe/Berlin, or UTC");
        }
    }

    private static Optional<InvalidSpec> anchor(String anchor) {
        try {
            int year = LocalDateTime.parse(anchor).getYear();
            if (year >= FIRST_YEAR && year <= LAST_YEAR) {
                return Optional.empty();
            }
        } catch (DateTimeException e) {
            // Said below, with what would be legal.
        }
        return invalidSpec(
                "spec.period.anchor",
                anchor,
                "a day of the calendar from %d to %d with its time, for instance 2026-01-01T00:00:00"
                        .formatted(FIRST_YEAR, LAST_YEAR));
    }

    private static Optional<InvalidSpec> minutes(String field, @Nullable String minutes) {
        try {
            return minutes == null || GpuTime.ofMinutes(minutes).compareTo(GpuTime.ZERO) >= 0
                    ? Optional.empty()
                    : invalidSpec(field, minutes, "0 or more GPU-minutes");
        } catch (IllegalArgumentException e) {
            return invalidSpec(
                    field,
                    String.valueOf(minutes),
                    "a decimal number of GPU-minutes with at most six decimals, for instance 1200");
        }
    }

    private static Optional<InvalidSpec> percent(String field, int percent) {
        return percent >= 0 && percent <= 100
                ? Optional.empty()
                : invalidSpec(field, Integer.toString(percent), "0 to 100");
    }

    private static Optional<InvalidSpec> fixed(GpuBudgetSpec.Share share) {
        if (share.reference() != ShareRule.Reference.Fixed) {
            return Optional.empty();
        }
        GpuBudgetSpec.Fixed fixed = share.fixed();
        boolean legal =
                fixed != null
                        && fixed.compute() > 0
                        && fixed.compute() <= 100
                        && fixed.memory() > 0
                        && fixed.memory() <= 65_536;
        return legal
                ? Optional.empty()
                : invalidSpec(
                        "spec.share.fixed",
                        String.valueOf(fixed),
                        "compute from 1 to 100 and memory from 1 to 65536");
    }

    private static Optional<InvalidSpec> minimumRunTime(GpuBudgetSpec spec) {
        try {
            spec.minimumRun();
            return Optional.empty();
        } catch (DateTimeException | ArithmeticException e) {
            return invalidSpec(
                    "spec.minimumRunTime", spec.minimumRunTime(), "a duration, for instance 5m");
        }
    }

    private static Optional<InvalidSpec> invalidSpec(String field, String found, String legal) {
        return Optional.of(new InvalidSpec(field, found, legal));
    }
}
