package io.gpusharing.timekeeper.budget.account;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import io.gpusharing.timekeeper.budget.status.Publication;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class AccountTest {

    private static final Instant MONDAY = Instant.parse("2026-03-02T00:00:00Z");
    private static final Instant TUESDAY = MONDAY.plus(Duration.ofDays(1));
    private static final Instant WEDNESDAY = TUESDAY.plus(Duration.ofDays(1));

    private final FakeUsage usage = new FakeUsage();
    private final Budget budget =
            TestBudgets.budget("a", MONDAY, "100", Unit.Day, "UTC", "30", 25, "team-a").budget();
    private final CarryOver monday = carryOver(MONDAY, TUESDAY);
    private final OpenRates open = new OpenRates();
    private final Account account = new Account(budget, monday, open);

    /** Minutes used from an instant on, all in its first second. */
    private static final class FakeUsage implements BalanceReplay.Usage {

        private final TreeMap<Instant, GpuTime> used = new TreeMap<>();
        private Map<String, GpuTime> late = Map.of();

        void use(Instant at, String minutes) {
            used.put(at, GpuTime.ofMinutes(minutes));
        }

        @Override
        public Map<String, GpuTime> posted(Instant from, @Nullable Instant to) {
            var span = to == null ? used.tailMap(from) : used.subMap(from, to);
            return Map.of("team-a", span.values().stream().reduce(GpuTime.ZERO, GpuTime::plus));
        }

        @Override
        public Map<String, GpuTime> late(Instant before, Instant since) {
            return late;
        }
    }

    private static CarryOver carryOver(Instant start, Instant end) {
        return new CarryOver(
                new Period(start, end),
                start,
                GpuTime.ZERO,
                GpuTime.ZERO,
                GpuTime.ZERO,
                Map.of(),
                start);
    }

    private static Grant grant(String minutes, Instant from, @Nullable Instant expires) {
        return new Grant(
                "uid-g", "g", "a", GpuTime.ofMinutes(minutes), "deadline", null, from, expires);
    }

    private static BudgetState state(Account account, Instant now) {
        return account.state(now, (from, to) -> GpuTime.ZERO);
    }

    private static GpuTime minutes(String minutes) {
        return GpuTime.ofMinutes(minutes);
    }

    @Test
    void whatIsLeftRollsOverUpToItsCap() {
        usage.use(MONDAY, "60");

        CarryOver tuesday = replay(monday, List.of(), usage, TUESDAY).getFirst();

        assertThat(tuesday.rolledOver()).isEqualTo(minutes("30"));
        assertThat(state(account, TUESDAY).remaining(TUESDAY)).contains(minutes("130"));
    }

    @Test
    void anOverrunIsOwedUpToItsCapAndTheRestIsWrittenOffExplicitly() {
        usage.use(MONDAY, "180");

        CarryOver tuesday = replay(monday, List.of(), usage, TUESDAY).getFirst();

        assertThat(tuesday.debt()).isEqualTo(minutes("25"));
        assertThat(tuesday.writtenOff()).isEqualTo(minutes("55"));
        assertThat(state(account, TUESDAY).remaining(TUESDAY)).contains(minutes("75"));
    }

    @Test
    void aClockThatWentBackBeyondTheLastStepStopsNoAccount() {
        replay(monday, List.of(), usage, TUESDAY.plusSeconds(10));
        open.opened(running(1_000_000, 43_200));

        BudgetState state = state(account, MONDAY.plus(Duration.ofHours(6)));

        assertThat(state.asOf()).isEqualTo(TUESDAY);
        assertThat(state.used(TUESDAY)).isEqualTo(minutes("720"));
    }

    @Test
    void anAllocationThatBeginsALittleAheadIsWaitedFor() {
        replay(monday, List.of(), usage, MONDAY);
        open.opened(running(1_000_000, 5));

        assertThat(state(account, MONDAY).asOf()).isEqualTo(MONDAY.plusSeconds(5));
        assertThat(state(account, MONDAY).isAhead(MONDAY)).isFalse();
    }

    @Test
    void whatAClockThatWasAheadHasPostedIsNotUsedYet() {
        Instant one = MONDAY.plus(Duration.ofHours(1));
        usage.use(MONDAY, "180");
        replay(monday, List.of(), usage, MONDAY);
        open.opened(running(1_000_000, 10_800));

        BudgetState state = state(account, one);

        assertThat(state.asOf()).isEqualTo(one);
        assertThat(state.used(one)).isEqualTo(minutes("60"));
        assertThat(state.remaining(one)).contains(minutes("40"));
        assertThat(state.exhaustedAt()).isEqualTo(one.plus(Duration.ofMinutes(40)));
    }

    @Test
    void aGrantThatIsCalledRolloverIsNotCountedTwice() {
        Grant grant =
                new Grant(
                        "uid-g",
                        "rollover",
                        "a",
                        minutes("50"),
                        "deadline",
                        null,
                        MONDAY,
                        TUESDAY.plus(Duration.ofDays(3)));
        usage.use(MONDAY, "100");

        CarryOver tuesday = replay(monday, List.of(grant), usage, TUESDAY).getFirst();

        assertThat(tuesday.rolledOver()).isEqualTo(GpuTime.ZERO);
        assertThat(tuesday.carried()).isEqualTo(Map.of("uid-g", minutes("50")));
    }

    @Test
    void anOpenedPeriodContinuesFromItsCarryOver() {
        usage.use(MONDAY, "180");
        usage.use(TUESDAY, "10");
        CarryOver tuesday = replay(monday, List.of(), usage, TUESDAY).getFirst();

        replay(tuesday, List.of(), usage, TUESDAY.plusSeconds(5));

        assertThat(state(account, TUESDAY.plusSeconds(5)).remaining(TUESDAY.plusSeconds(5)))
                .contains(minutes("65"));
    }

    @Test
    void lateUsageOfAClosedPeriodCountsInTheOpenOne() {
        CarryOver tuesday = replay(monday, List.of(), usage, TUESDAY).getFirst();
        usage.late = Map.of("team-a", minutes("7"));

        replay(tuesday, List.of(), usage, TUESDAY);

        assertThat(state(account, TUESDAY).used(TUESDAY)).isEqualTo(minutes("7"));
    }

    @Test
    void aLateCreditForANamespaceThatHasMovedAwayReducesWhatWasUsed() {
        CarryOver tuesday = replay(monday, List.of(), usage, TUESDAY).getFirst();
        usage.late = Map.of("team-gone", GpuTime.ZERO.minus(minutes("7")));

        replay(tuesday, List.of(), usage, TUESDAY);

        assertThat(state(account, TUESDAY).used(TUESDAY))
                .isEqualTo(GpuTime.ZERO.minus(minutes("7")));
        assertThat(state(account, TUESDAY).remaining(TUESDAY)).contains(minutes("137"));
    }

    @Test
    void aGrantCountsFromItsBeginToItsEndAndTheSoonerToExpireIsUsedFirst() {
        Instant noon = MONDAY.plus(Duration.ofHours(12));
        List<Grant> grants = List.of(grant("50", noon, noon.plusSeconds(3600)));
        usage.use(noon, "20");

        replay(monday, grants, usage, MONDAY);
        assertThat(state(account, MONDAY).remaining(MONDAY)).contains(minutes("80"));

        replay(monday, grants, usage, noon.plusSeconds(10));
        assertThat(state(account, noon.plusSeconds(10)).remaining(noon.plusSeconds(10)))
                .contains(minutes("130"));

        replay(monday, grants, usage, noon.plusSeconds(3600));
        assertThat(state(account, noon.plusSeconds(3600)).remaining(noon.plusSeconds(3600)))
                .contains(minutes("100"));
    }

    @Test
    void aGrantOutlivesItsPeriodWithWhatIsLeft() {
        List<Grant> grants = List.of(grant("50", MONDAY, WEDNESDAY));
        usage.use(MONDAY, "120");

        CarryOver tuesday = replay(monday, grants, usage, TUESDAY).getFirst();
        replay(tuesday, grants, usage, TUESDAY);

        assertThat(tuesday.carried()).containsEntry("uid-g", minutes("30"));
        assertThat(state(account, TUESDAY).remaining(TUESDAY)).contains(minutes("130"));
    }

    @Test
    void aBudgetLoweredBelowWhatIsUsedIsOverrunAndSaysSo() {
        usage.use(MONDAY, "60");
        account.changed(
                TestBudgets.budget("a", MONDAY, "40", Unit.Day, "UTC", "0", 25, "team-a").budget(),
                List.of());

        replay(monday, List.of(), usage, MONDAY);

        assertThat(state(account, MONDAY).remaining(MONDAY)).contains(minutes("-20"));
        assertThat(state(account, MONDAY).standing(MONDAY).word()).isEqualTo("OverBudget");
    }

    @Test
    void aCorrectionDuringAReadOfTheExhaustionBreaksNothing() {
        replay(monday, List.of(), usage, MONDAY);
        open.opened(running(200_000_000, 0));
        var posted = new ArrayDeque<>(List.of(minutes("200")));
        Instant now = MONDAY.plusSeconds(60);

        BudgetState state =
                account.state(
                        now, (from, to) -> Objects.requireNonNullElse(posted.poll(), GpuTime.ZERO));

        assertThat(state.standing(now).word()).isEqualTo("OverBudget");
        assertThat(state.exhaustedAt()).isBetween(MONDAY, now);
    }

    /** What the webhook computes from the published status is what we compute ourselves. */
    @ParameterizedTest
    @RandomSeeds(200)
    void thePublishedStatusGivesTheSameStandingAtEveryLaterInstant(long seed) {
        Random random = new Random(seed);
        usage.use(MONDAY, Integer.toString(random.nextInt(120)));
        replay(
                monday,
                List.of(grant("20", MONDAY.plusSeconds(61 + random.nextInt(90_000)), null)),
                usage,
                MONDAY.plusSeconds(1));
        for (int i = random.nextInt(5); i > 0; i--) {
            open.opened(running(1 + random.nextInt(3_000_000), random.nextInt(30)));
        }
        BudgetState state = state(account, MONDAY.plusSeconds(60));
        Instant written = MONDAY.plusSeconds(60 + random.nextInt(600));

        var published =
                new PublishedBudget(
                        "a",
                        budget.created(),
                        budget.spec(),
                        Publication.document(
                                state,
                                written,
                                Alerts.at(state, written),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                null));

        Instant later = written.plusMillis(random.nextLong(Duration.ofDays(3).toMillis()));
        assertThat(published.standingAt(later)).isEqualTo(state.standing(later));
    }

    private static PodAllocation running(long rate, int second) {
        Instant since = MONDAY.plusSeconds(second);
        return OpenAllocation.of("team-a", "a", rate, new GpuShare(rate, 0), since);
    }

    private List<CarryOver> replay(
            CarryOver carryOver, List<Grant> grants, BalanceReplay.Usage used, Instant now) {
        return account.replay(
                carryOver, account.budget().periods(), account.terms(), grants, used, now);
    }
}
