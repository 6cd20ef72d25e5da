package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.Quote.Payer;
import io.gpusharing.budget.Quote.Price;
import io.gpusharing.budget.Quote.Rate;
import io.gpusharing.budget.Quote.Stage;
import io.gpusharing.budget.Quote.Work;
import io.gpusharing.testing.RandomSeeds;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuoteTest {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");
    private static final Rate HALF = new Rate(null, 500_000);
    private static final Duration THREE_HOURS = Duration.ofHours(3);

    /** A budget of so many minutes a month, of which so many are left; its pods hold a GPU. */
    private static Payer payer(OnExhausted rule, String minutes, String left) {
        return payer(rule, ChargeBy.Allocation, minutes, left);
    }

    private static Payer payer(OnExhausted rule, ChargeBy chargeBy, String minutes, String left) {
        GpuBudgetSpec monthly = GpuBudgetSpec.monthly(List.of("team-a"), minutes);
        var spec =
                new GpuBudgetSpec(
                        monthly.namespaces(),
                        minutes,
                        monthly.period(),
                        monthly.rollover(),
                        monthly.debt(),
                        rule,
                        chargeBy,
                        monthly.share(),
                        monthly.warnAtPercent(),
                        monthly.minimumRunTime());
        BudgetLine full = BudgetLine.unused(NOON, spec.terms().orElseThrow());
        GpuTime used = GpuTime.ofMinutes(minutes).minus(GpuTime.ofMinutes(left));
        return new Payer("team-a", spec, Optional.of(full.after(used, NOON).withRate(1_000_000)));
    }

    private static Quote quote(Work work, @Nullable Payer payer) {
        return Quote.of(work, List.of(HALF), payer, NOON, List.of());
    }

    private static Work threeHours(int pods, int atOnce) {
        return lasting(pods, atOnce, THREE_HOURS);
    }

    private static Work lasting(int pods, int atOnce, Duration takes) {
        return new Work(pods, atOnce, List.of(new Stage(atOnce, takes)));
    }

    @Test
    void whatABudgetLastsForIsSaidWithWhatIsLeftThen() {
        Quote quote = quote(threeHours(1, 1), payer(OnExhausted.Reclaim, "600", "500"));

        assertThat(quote.summary())
                .isEqualTo(
                        "Yes: 1 pod is charged as 0.5 GPUs: 30.000 GPU-minutes an hour, 90.000 in all. The budget team-a has 500.000 left, and lasts: with what its pods hold now 230.000 are left at 2026-03-10T15:00:00Z");
        assertThat(quote.lasts()).isTrue();
        assertThat(quote.gpuMinutes()).isEqualTo("90.000");
        assertThat(quote.remainingThenMinutes()).isEqualTo("230.000");
        assertThat(quote.exhaustedAt()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Observe       | it only observes, and nothing happens to its pods
                    LowerPriority | its pods run on, and new ones may be evicted when a pod in budget waits
                    Reclaim       | its pods may be evicted from then on when a pod in budget waits
                    Refuse        | its pods may be evicted from then on when a pod in budget waits, and new ones are refused
                    """)
    void whereItDoesNotLastItIsSaidWhenItEndsAndWhatHappensThen(OnExhausted rule, String then) {
        Quote quote = quote(threeHours(4, 2), payer(rule, "600", "240"));

        assertThat(quote.summary())
                .isEqualTo(
                        "No: 4 pods, 2 at once, are charged as 1 GPU: 60.000 GPU-minutes an hour, 180.000 in all. The budget team-a has 240.000 left, and with what its pods hold now it is used up at 2026-03-10T14:00:00Z: "
                                + then);
        assertThat(quote.lasts()).isFalse();
        assertThat(quote.exhaustedAt()).isEqualTo("2026-03-10T14:00:00Z");
        assertThat(quote.remainingThenMinutes()).isNull();
        assertThat(quote.onExhausted()).isEqualTo(rule);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Observe       | it only observes, and pods are admitted as others
                    LowerPriority | new pods give way to pods in budget, and may be evicted when one of those waits
                    Reclaim       | new pods give way to pods in budget, and may be evicted when one of those waits
                    Refuse        | new GPU pods are refused
                    """)
    void ofABudgetThatIsUsedUpItIsSaidWhatNewPodsMeet(OnExhausted rule, String now) {
        Quote quote = quote(threeHours(1, 1), payer(rule, "600", "0"));

        assertThat(quote.summary())
                .startsWith("No: ")
                .endsWith(". The budget team-a is used up: " + now);
        assertThat(quote.remainingMinutes()).isEqualTo("0.000");
        assertThat(quote.exhaustedAt()).isEqualTo(NOON.toString());
    }

    @Test
    void whoDoesNotSayHowLongIsToldHowLongItLasts() {
        Quote ending = quote(new Work(1, 1, List.of()), payer(OnExhausted.Reclaim, "600", "90"));
        assertThat(ending.summary())
                .startsWith("1 pod is charged as ")
                .contains("30.000 GPU-minutes an hour. ", "used up at 2026-03-10T13:00:00Z");
        assertThat(ending.lasts()).isNull();
        Quote lasting =
                quote(new Work(1, 1, List.of()), payer(OnExhausted.Reclaim, "90000", "90000"));
        assertThat(lasting.summary())
                .endsWith("and lasts until the next period begins at 2026-04-01T00:00:00Z");
        assertThat(lasting.gpuMinutes()).isNull();
        assertThat(lasting.until()).isNull();
    }

    /** The rest of March takes 46 440 minutes at one and a half GPUs, all of April 64 800. */
    @Test
    void theNextPeriodPaysForWhatRunsIntoIt() {
        Payer payer = payer(OnExhausted.Reclaim, "50000", "50000");

        assertThat(quote(lasting(1, 1, Duration.ofDays(30)), payer).exhaustedAt()).isNull();
        assertThat(quote(lasting(1, 1, Duration.ofDays(60)), payer).exhaustedAt())
                .isEqualTo("2026-04-24T03:33:20Z");
    }

    /** Two at once for two hours, and one for the third. */
    @Test
    void theLastOfAnOddNumberRunsAlone() {
        var five =
                new Work(
                        5,
                        2,
                        List.of(
                                new Stage(2, Duration.ofHours(2)),
                                new Stage(1, Duration.ofHours(1))));
        Quote quote = quote(five, payer(OnExhausted.Reclaim, "600", "500"));

        assertThat(quote.gpuMinutes()).isEqualTo("150.000");
        assertThat(quote.until()).isEqualTo("2026-03-10T15:00:00Z");
        assertThat(quote.remainingThenMinutes()).isEqualTo("170.000");
        assertThat(quote(five, payer(OnExhausted.Reclaim, "600", "285")).exhaustedAt())
                .isEqualTo("2026-03-10T14:30:00Z");
    }

    @Test
    void whereModelsDifferTheDearestCounts() {
        Quote quote =
                Quote.of(
                        threeHours(2, 2),
                        List.of(
                                new Rate("A30", 500_000),
                                new Rate("H200", 2_000_000),
                                new Rate("A30", 500_000)),
                        null,
                        NOON,
                        List.of("A40 has no weight"));

        assertThat(quote.summary())
                .isEqualTo(
                        "Yes: 2 pods are charged as 1 to 4 GPUs, by the node: up to 240.000 GPU-minutes an hour, 720.000 in all. No budget pays for the namespace");
        assertThat(quote.prices())
                .containsExactly(
                        new Price("H200", "4", "240.000"), new Price("A30", "1", "60.000"));
        assertThat(quote.notKnown()).containsExactly("A40 has no weight");
    }

    @Test
    void whoIsChargedByUseMayPayLess() {
        Payer byUse = payer(OnExhausted.Reclaim, ChargeBy.Utilization, "600", "500");

        assertThat(quote(threeHours(1, 1), byUse).summary())
                .startsWith("Yes: 1 pod is charged by use, at most as 0.5 GPUs: ");
    }

    @Test
    void withoutALimitNothingEnds() {
        var unlimited =
                new Payer(
                        "team-a", GpuBudgetSpec.monthly(List.of("team-a"), null), Optional.empty());

        assertThat(quote(threeHours(1, 1), unlimited).summary())
                .endsWith(". The budget team-a has no limit");
    }

    @Test
    void whatAsksForNoGpuCostsNothing() {
        assertThat(Quote.of(threeHours(1, 1), List.of(), null, NOON, List.of()).summary())
                .startsWith("It costs nothing. ");
        assertThat(Quote.of(threeHours(1, 1), List.of(), null, NOON, List.of("claims")).summary())
                .startsWith("What is known of it costs nothing. ");
        assertThat(quote(new Work(0, 0, List.of()), null).summary())
                .startsWith("It makes no pods. ");
    }

    @Test
    void whatNoClusterHasIsRefused() {
        assertThatThrownBy(() -> quote(threeHours(Integer.MAX_VALUE, Integer.MAX_VALUE), null))
                .hasMessage("2147483647 pods of 0.5 GPUs are more than 100000 GPUs");
        assertThatThrownBy(() -> quote(lasting(1, 1, Duration.ofDays(5_000)), null))
                .hasMessageContaining("5000 days");
    }

    @ParameterizedTest
    @CsvSource({"90m, PT90M", "3h, PT3H", "2d12h, P2DT12H", "1H30m, PT1H30M", "45s, PT45S"})
    void lengthsAreWrittenAsPeopleDo(String text, Duration length) {
        assertThat(Quote.length(text)).isEqualTo(length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "h", "0h", "3h2d", "30m1h", "367d", "-3h", "99999d", "3 h"})
    void whatIsNoLengthIsRefusedWithWhatWouldBe(String text) {
        assertThatThrownBy(() -> Quote.length(text))
                .hasMessage(
                        "\"%s\" is no length of time; write for instance 90m, 3h or 2d12h, and no more than 366d",
                        text);
    }

    /** What is quoted is what the line says once the pods are there. */
    @ParameterizedTest
    @RandomSeeds(500)
    void aQuoteIsWhatHappens(long seed) {
        Random random = new Random(seed);
        String granted = String.valueOf(1 + random.nextInt(20_000));
        Payer payer = payer(OnExhausted.Reclaim, granted, granted);
        var rate = new Rate(null, 1 + random.nextInt(4_000_000));
        int pods = 1 + random.nextInt(5);
        Duration takes = Duration.ofMinutes(1 + random.nextInt(80_000));
        Instant until = NOON.plus(takes);

        Quote quote = Quote.of(lasting(pods, pods, takes), List.of(rate), payer, NOON, List.of());

        BudgetLine there = payer.line().orElseThrow().withRate(1_000_000 + pods * rate.micros());
        if (quote.exhaustedAt() == null) {
            assertThat(quote.remainingThenMinutes())
                    .isEqualTo(there.at(until).remaining().minutes());
        } else {
            Instant exhausted = Instant.parse(quote.exhaustedAt());
            assertThat(exhausted).isBefore(until);
            assertThat(there.at(exhausted).remaining().isPositive()).isFalse();
            assertThat(there.at(exhausted.minusMillis(1)).remaining().isPositive()).isTrue();
        }
    }
}
