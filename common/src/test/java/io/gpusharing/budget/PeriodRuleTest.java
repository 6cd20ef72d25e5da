package io.gpusharing.budget;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.testing.RandomSeeds;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeriodRuleTest {

    private static final List<Unit> CUTS =
            List.of(Unit.Day, Unit.Week, Unit.Month, Unit.Quarter, Unit.Year);

    @ParameterizedTest(name = "{0} from {2} in {1}: {3} lies in [{4}, {5})")
    @CsvSource({
        "Day, UTC, 2026-01-01T00:00:00, 2026-03-10T12:00:00Z, 2026-03-10T00:00:00Z, 2026-03-11T00:00:00Z",
        "Week, UTC, 2026-01-05T00:00:00, 2026-01-11T23:59:59Z, 2026-01-05T00:00:00Z, 2026-01-12T00:00:00Z",
        "Month, UTC, 2026-01-01T00:00:00, 2026-02-01T00:00:00Z, 2026-02-01T00:00:00Z, 2026-03-01T00:00:00Z",
        "Quarter, UTC, 2026-01-01T00:00:00, 2026-06-30T23:59:59Z, 2026-04-01T00:00:00Z, 2026-07-01T00:00:00Z",
        "Year, UTC, 2026-01-01T00:00:00, 2028-02-29T12:00:00Z, 2028-01-01T00:00:00Z, 2029-01-01T00:00:00Z",
        "Month, UTC, 2026-01-01T00:00:00, 2025-12-31T23:59:59Z, 2025-12-01T00:00:00Z, 2026-01-01T00:00:00Z",
        // The 31st comes back after February.
        "Month, UTC, 2026-01-31T00:00:00, 2026-03-01T00:00:00Z, 2026-02-28T00:00:00Z, 2026-03-31T00:00:00Z",
        "Month, UTC, 2026-01-31T00:00:00, 2026-04-01T00:00:00Z, 2026-03-31T00:00:00Z, 2026-04-30T00:00:00Z",
        // Midnight in Berlin; the month of the clock change is an hour shorter.
        "Month, Europe/Berlin, 2026-01-01T00:00:00, 2026-03-29T12:00:00Z, 2026-02-28T23:00:00Z, 2026-03-31T22:00:00Z",
        // 02:30 does not exist on 2026-03-29 and exists twice on 2026-10-25.
        "Day, Europe/Berlin, 2026-01-01T02:30:00, 2026-03-29T01:30:00Z, 2026-03-29T01:30:00Z, 2026-03-30T00:30:00Z",
        "Day, Europe/Berlin, 2026-01-01T02:30:00, 2026-10-25T01:30:00Z, 2026-10-25T00:30:00Z, 2026-10-26T01:30:00Z",
        // Long before its anchor: 03:10, when the day's edge has moved to 03:30.
        "Day, Europe/Berlin, 2027-01-01T02:30:00, 2026-03-29T01:10:00Z, 2026-03-28T01:30:00Z, 2026-03-29T01:30:00Z"
    })
    void findsThePeriod(
            Unit unit, String zone, String anchor, Instant instant, Instant start, Instant end) {
        assertThat(rule(unit, zone, anchor).at(instant)).isEqualTo(new Period(start, end));
    }

    @Test
    void neverIsOnePeriodWithoutAnEnd() {
        assertThat(
                        rule(Unit.Never, "UTC", "2026-01-01T00:00:00")
                                .at(Instant.parse("2199-01-01T00:00:00Z")))
                .isEqualTo(new Period(Instant.parse("2026-01-01T00:00:00Z"), null));
    }

    @Test
    void aDayThatAZoneSkippedIsNoPeriod() {
        PeriodRule apia = rule(Unit.Day, "Pacific/Apia", "2011-12-01T00:00:00");

        // 2011-12-30 did not exist there.
        assertThat(apia.at(Instant.parse("2011-12-30T09:59:59Z")).end())
                .isEqualTo(Instant.parse("2011-12-30T10:00:00Z"));
        assertThat(apia.at(Instant.parse("2011-12-30T10:00:00Z")))
                .isEqualTo(
                        new Period(
                                Instant.parse("2011-12-30T10:00:00Z"),
                                Instant.parse("2011-12-31T10:00:00Z")));
    }

    @ParameterizedTest
    @RandomSeeds(400)
    void periodsTileTheTimeOfEveryZoneWithoutGapOrOverlap(long seed) {
        Random random = new Random(seed);
        List<String> zones = new ArrayList<>(ZoneId.getAvailableZoneIds());
        zones.sort(String::compareTo);
        Unit unit = CUTS.get(random.nextInt(CUTS.size()));
        LocalDateTime anchor =
                LocalDateTime.of(2000, 1, 1, 0, 0).plusMinutes(random.nextInt(60 * 24 * 366 * 40));
        PeriodRule rule =
                new PeriodRule(unit, ZoneId.of(zones.get(random.nextInt(zones.size()))), anchor);
        Instant instant =
                Instant.parse("2005-01-01T00:00:00Z")
                        .plus(Duration.ofMinutes(random.nextInt(60 * 24 * 366 * 30)));

        theyTile(rule, instant);
    }

    /** Where a change of clocks moves an edge itself, before and after the anchor. */
    @ParameterizedTest
    @RandomSeeds(400)
    void periodsTileTheTimeAroundAnEdgeThatIsSkippedOrComesTwice(long seed) {
        Random random = new Random(seed);
        List<ZoneId> zones =
                ZoneId.getAvailableZoneIds().stream()
                        .sorted()
                        .map(ZoneId::of)
                        .filter(zone -> !zone.getRules().getTransitions().isEmpty())
                        .toList();
        ZoneId zone = zones.get(random.nextInt(zones.size()));
        var changes = zone.getRules().getTransitions();
        ZoneOffsetTransition change = changes.get(random.nextInt(changes.size()));
        Unit unit = CUTS.get(random.nextInt(CUTS.size()));
        LocalDateTime anchor =
                change.getDateTimeBefore()
                        .plusMinutes(random.nextInt(-60, 61))
                        .plusDays(7L * random.nextInt(-1, 2))
                        .plusMonths(12L * random.nextInt(-1, 2));

        theyTile(
                new PeriodRule(unit, zone, anchor),
                change.getInstant().plus(Duration.ofMinutes(random.nextInt(-120, 121))));
    }

    private static void theyTile(PeriodRule rule, Instant instant) {
        Period period = rule.at(instant);

        assertThat(period.start()).isBeforeOrEqualTo(instant);
        assertThat(period.end()).isAfter(instant);
        assertThat(rule.at(Objects.requireNonNull(period.end())).start()).isEqualTo(period.end());
        assertThat(rule.at(period.start())).isEqualTo(period);
        assertThat(rule.at(period.start().minusNanos(1)).end()).isEqualTo(period.start());
    }

    private static PeriodRule rule(Unit unit, String zone, String anchor) {
        return new PeriodRule(unit, ZoneId.of(zone), LocalDateTime.parse(anchor));
    }
}
