package io.gpusharing.budget;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.request.GpuShare;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What work would cost, and whether its budget lasts for it beside what its pods hold now. Minutes
 * are whole-GPU minutes, rounded to thousandths; instants are RFC 3339 in UTC.
 *
 * @param summary the same in sentences for a person; begins with {@code Yes} or {@code No} where
 *     {@code lasts} is known
 * @param lasts whether the budget lasts until the work is done, or there is none that could end;
 *     absent if that depends on how long it runs and nobody said so
 * @param budget which pays; absent if none does
 * @param pods in all
 * @param podsAtOnce at most
 * @param prices of all pods that are there at once, the dearest first; the dearest is what the rest
 *     goes by
 * @param gpuMinutes for all of it; absent if nobody said how long it runs
 * @param remainingMinutes of the budget now, negative by what was overrun; absent if it is
 *     unlimited
 * @param until when the work would be done, begun now; absent with {@code gpuMinutes}
 * @param remainingThenMinutes of the budget; absent if it does not last
 * @param exhaustedAt when the budget would be used up, or since when it is at the latest; absent if
 *     it lasts
 * @param onExhausted what its spec says of pods then
 * @param notKnown what the price may be wrong by
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quote(
        String summary,
        @Nullable Boolean lasts,
        @Nullable String budget,
        int pods,
        int podsAtOnce,
        List<Price> prices,
        @Nullable String gpuMinutes,
        @Nullable String remainingMinutes,
        @Nullable String until,
        @Nullable String remainingThenMinutes,
        @Nullable String exhaustedAt,
        @Nullable OnExhausted onExhausted,
        List<String> notKnown) {

    private static final Duration LONGEST = Duration.ofDays(366);

    private static final Duration TEN_YEARS = LONGEST.multipliedBy(10);

    public Quote {
        prices = List.copyOf(prices);
        notKnown = List.copyOf(notKnown);
    }

    /**
     * What all pods that are there at once cost on GPUs of a model.
     *
     * @param model absent if its nodes do not say
     * @param gpus whole GPUs that are charged
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Price(@Nullable String model, String gpus, String minutesPerHour) {}

    /**
     * What is to be done.
     *
     * @param pods in all
     * @param atOnce how many of them at most
     * @param stages one after the other; none if nobody said how long it takes
     */
    public record Work(int pods, int atOnce, List<Stage> stages) {

        public Work {
            stages = List.copyOf(stages);
        }

        private Duration takes() {
            return stages.stream().map(Stage::length).reduce(Duration.ZERO, Duration::plus);
        }
    }

    /** So many pods at once, for so long. */
    public record Stage(int pods, Duration length) {}

    /**
     * What one pod is charged on GPUs of a model.
     *
     * @param model null if their nodes do not say
     * @param micros micro-GPUs
     */
    public record Rate(@Nullable String model, long micros) {}

    /**
     * Who pays.
     *
     * @param line empty if it is unlimited
     */
    public record Payer(String name, GpuBudgetSpec spec, Optional<BudgetLine> line) {}

    /**
     * Quotes.
     *
     * @param rates one at least, where the work asks for GPUs
     * @param payer null if no budget pays
     * @param notKnown what the rates may be wrong by
     * @throws IllegalArgumentException if it is more than {@link ShareRule#MAX_RATE}, or takes
     *     longer than ten years
     */
    public static Quote of(
            Work work,
            List<Rate> rates,
            @Nullable Payer payer,
            Instant now,
            List<String> notKnown) {
        Duration takes = work.takes();
        if (takes.compareTo(TEN_YEARS) > 0) {
            throw new IllegalArgumentException(
                    "All of it would take %d days; ask about ten years of it at most"
                            .formatted(takes.toDays()));
        }
        List<Rate> dearestFirst =
                rates.stream()
                        .distinct()
                        .sorted(
                                Comparator.comparingLong(Rate::micros)
                                        .reversed()
                                        .thenComparing(
                                                Rate::model,
                                                Comparator.nullsLast(Comparator.naturalOrder())))
                        .toList();
        long dearest = dearestFirst.isEmpty() ? 0 : dearestFirst.getFirst().micros();
        List<Price> prices =
                dearestFirst.stream()
                        .map(it -> price(it.model(), product(work.atOnce(), it.micros())))
                        .toList();
        Instant until = work.stages().isEmpty() ? null : now.plus(takes);
        GpuTime cost = until == null ? null : cost(work, dearest, now);
        Optional<Forecast> forecast =
                payer == null
                        ? Optional.empty()
                        : payer.line().map(line -> Forecast.of(line, work, dearest, now));
        Boolean lasts = lasts(forecast, until);
        return new Quote(
                answer(lasts, prices)
                        + price(work, prices, payer, cost, !notKnown.isEmpty())
                        + ". "
                        + outlook(payer, forecast, until),
                lasts,
                payer == null ? null : payer.name(),
                work.pods(),
                work.atOnce(),
                prices,
                cost == null ? null : cost.minutes(),
                forecast.map(it -> it.remaining().minutes()).orElse(null),
                text(until),
                forecast.map(Forecast::then).map(GpuTime::minutes).orElse(null),
                text(forecast.map(Forecast::exhaustedAt).orElse(null)),
                payer == null ? null : payer.spec().onExhausted(),
                notKnown);
    }

    private static @Nullable Boolean lasts(Optional<Forecast> forecast, @Nullable Instant until) {
        if (forecast.isEmpty() || forecast.get().exhaustedAt() == null) {
            return true;
        }
        if (until == null && forecast.get().remaining().isPositive()) {
            return null;
        }
        return false;
    }

    /** What costs nothing needs none. */
    private static String answer(@Nullable Boolean lasts, List<Price> prices) {
        if (lasts == null || prices.isEmpty() || prices.getFirst().gpus().equals("0")) {
            return "";
        }
        return lasts ? "Yes: " : "No: ";
    }

    private static GpuTime cost(Work work, long rate, Instant now) {
        return work.stages().stream()
                .map(it -> GpuTime.accrued(it.pods() * rate, now, now.plus(it.length())))
                .reduce(GpuTime.ZERO, GpuTime::plus);
    }

    /**
     * Reads how long something runs.
     *
     * @param text {@code 90m}, {@code 3h}, {@code 2d12h}
     * @throws IllegalArgumentException with what would be legal
     */
    public static Duration length(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int days = lower.indexOf('d') + 1;
        try {
            if (lower.chars().allMatch(it -> "0123456789dhms".indexOf(it) >= 0)) {
                Duration read =
                        Duration.parse(
                                "P"
                                        + lower.substring(0, days)
                                        + (days < lower.length()
                                                ? "T" + lower.substring(days)
                                                : ""));
                if (read.isPositive() && read.compareTo(LONGEST) <= 0) {
                    return read;
                }
            }
        } catch (DateTimeException _) {
            // Without units, or with units in another order; said below.
        }
        throw new IllegalArgumentException(
                "\"%s\" is no length of time; write for instance 90m, 3h or 2d12h, and no more than 366d"
                        .formatted(text));
    }

    private static long product(int pods, long rate) {
        if (rate > 0 && pods > ShareRule.MAX_RATE / rate) {
            throw new IllegalArgumentException(
                    "%d pods of %s are more than %s"
                            .formatted(pods, gpus(rate), gpus(ShareRule.MAX_RATE)));
        }
        return pods * rate;
    }

    /**
     * How the budget goes on.
     *
     * @param remaining now
     * @param exhaustedAt null if it lasts
     * @param periodEnd of the present period; null if it never ends
     * @param then what is left when the work is done; null if that is not said, or it does not last
     */
    private record Forecast(
            GpuTime remaining,
            @Nullable Instant exhaustedAt,
            @Nullable Instant periodEnd,
            @Nullable GpuTime then) {

        static Forecast of(BudgetLine line, Work work, long rate, Instant now) {
            BudgetLine before = line.at(now);
            long others = before.rate();
            if (work.stages().isEmpty()) {
                BudgetLine begun = before.withRate(others + work.atOnce() * rate);
                return of(before, begun.exhaustedAt(), null);
            }
            BudgetLine here = before;
            for (Stage stage : work.stages()) {
                BudgetLine begun = here.withRate(others + stage.pods() * rate);
                Instant end = begun.asOf().plus(stage.length());
                Instant exhausted = exhausted(begun, end);
                if (exhausted != null) {
                    return of(before, exhausted, null);
                }
                here = begun.at(end);
            }
            return of(before, null, here.remaining());
        }

        private static Forecast of(
                BudgetLine before, @Nullable Instant exhausted, @Nullable GpuTime then) {
            return new Forecast(before.remaining(), exhausted, before.periodEnd(), then);
        }

        /** Also in periods that begin meanwhile. */
        private static @Nullable Instant exhausted(BudgetLine begun, Instant until) {
            BudgetLine line = begun;
            while (true) {
                Instant exhausted = line.exhaustedAt();
                if (exhausted != null) {
                    return exhausted.isBefore(until) ? exhausted : null;
                }
                Instant end = line.periodEnd();
                if (end == null || !end.isBefore(until)) {
                    return null;
                }
                line = line.at(end);
            }
        }
    }

    private static Price price(@Nullable String model, long micros) {
        return new Price(model, GpuShare.inGpus(micros), anHour(micros));
    }

    private static String price(
            Work work,
            List<Price> prices,
            @Nullable Payer payer,
            @Nullable GpuTime cost,
            boolean isPartly) {
        if (work.atOnce() == 0) {
            return "It makes no pods";
        }
        if (prices.isEmpty() || prices.getFirst().gpus().equals("0")) {
            return isPartly ? "What is known of it costs nothing" : "It costs nothing";
        }
        Price dearest = prices.getFirst();
        Price cheapest = prices.getLast();
        boolean differ = !cheapest.gpus().equals(dearest.gpus());
        boolean byUse = payer != null && payer.spec().chargeBy() == ChargeBy.Utilization;
        return "%s charged %sas %s%s%s: %s%s GPU-minutes an hour%s"
                .formatted(
                        pods(work),
                        byUse ? "by use, at most " : "",
                        differ ? cheapest.gpus() + " to " : "",
                        counted(dearest.gpus()),
                        differ ? ", by the node" : "",
                        differ ? "up to " : "",
                        dearest.minutesPerHour(),
                        cost == null ? "" : ", " + cost.minutes() + " in all");
    }

    private static String pods(Work work) {
        return work.pods() == 1
                ? "1 pod is"
                : work.pods() == work.atOnce()
                        ? work.pods() + " pods are"
                        : "%d pods, %d at once, are".formatted(work.pods(), work.atOnce());
    }

    private static String outlook(
            @Nullable Payer payer, Optional<Forecast> found, @Nullable Instant until) {
        if (payer == null) {
            return "No budget pays for the namespace";
        }
        if (found.isEmpty()) {
            return "The budget %s has no limit".formatted(payer.name());
        }
        Forecast forecast = found.get();
        OnExhausted then = payer.spec().onExhausted();
        if (!forecast.remaining().isPositive()) {
            return "The budget %s is used up: %s".formatted(payer.name(), newPods(then));
        }
        String left =
                "The budget %s has %s left".formatted(payer.name(), forecast.remaining().minutes());
        if (forecast.exhaustedAt() != null) {
            return "%s, and with what its pods hold now it is used up at %s: %s"
                    .formatted(
                            left,
                            forecast.exhaustedAt().truncatedTo(ChronoUnit.SECONDS),
                            podsThere(then));
        }
        if (forecast.then() != null) {
            return "%s, and lasts: with what its pods hold now %s are left at %s"
                    .formatted(left, forecast.then().minutes(), until);
        }
        return forecast.periodEnd() == null
                ? left + ", and lasts"
                : "%s, and lasts until the next period begins at %s"
                        .formatted(left, forecast.periodEnd());
    }

    private static String newPods(OnExhausted rule) {
        return switch (rule) {
            case Observe -> "it only observes, and pods are admitted as others";
            case LowerPriority, Reclaim ->
                    "new pods give way to pods in budget, and may be evicted when one of those waits";
            case Refuse -> "new GPU pods are refused";
        };
    }

    private static String podsThere(OnExhausted rule) {
        return switch (rule) {
            case Observe -> "it only observes, and nothing happens to its pods";
            case LowerPriority ->
                    "its pods run on, and new ones may be evicted when a pod in budget waits";
            case Reclaim -> "its pods may be evicted from then on when a pod in budget waits";
            case Refuse ->
                    "its pods may be evicted from then on when a pod in budget waits, and new ones are refused";
        };
    }

    private static String gpus(long micros) {
        return counted(GpuShare.inGpus(micros));
    }

    private static String counted(String gpus) {
        return gpus.equals("1") ? "1 GPU" : gpus + " GPUs";
    }

    private static String anHour(long micros) {
        return GpuTime.accrued(micros, Instant.EPOCH, Instant.EPOCH.plusSeconds(3600)).minutes();
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
