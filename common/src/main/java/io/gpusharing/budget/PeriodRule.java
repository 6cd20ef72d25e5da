package io.gpusharing.budget;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * How time is cut into periods. Edge k is {@code anchor + k units} as a local date-time of the
 * zone, counted from the anchor itself, so that an anchor on the 31st gives the 31st again after
 * February. A local time that a clock change skips or repeats is taken as {@link
 * java.time.ZonedDateTime#ofLocal} does: later, and the earlier of two.
 *
 * @param unit length of a period
 * @param zone whose calendar counts
 * @param anchor local date-time of edge 0
 */
public record PeriodRule(Unit unit, ZoneId zone, LocalDateTime anchor) {

    /** Length of a period. */
    public enum Unit {
        Day(ChronoUnit.DAYS, 1),
        Week(ChronoUnit.WEEKS, 1),
        Month(ChronoUnit.MONTHS, 1),
        Quarter(ChronoUnit.MONTHS, 3),
        Year(ChronoUnit.YEARS, 1),
        /** One period without an end, from the anchor on. */
        Never(ChronoUnit.FOREVER, 1);

        private final ChronoUnit step;
        private final int count;

        Unit(ChronoUnit step, int count) {
            this.step = step;
            this.count = count;
        }
    }

    /**
     * The period that contains the instant. Before the anchor, periods count backwards; one that
     * never ends is the same for every instant.
     */
    public Period at(Instant instant) {
        if (unit == Unit.Never) {
            return new Period(edge(0), null);
        }
        LocalDateTime local = LocalDateTime.ofInstant(instant, zone);
        // Clock changes and month lengths can put the estimate off by a step either way.
        long k = Math.floorDiv(unit.step.between(anchor, local), unit.count) - 1;
        while (edge(k).isAfter(instant)) {
            k--;
        }
        while (!edge(k + 1).isAfter(instant)) {
            k++;
        }
        return new Period(edge(k), edge(k + 1));
    }

    private Instant edge(long k) {
        LocalDateTime local = unit == Unit.Never ? anchor : anchor.plus(k * unit.count, unit.step);
        return local.atZone(zone).toInstant();
    }
}
