package io.gpusharing.timekeeper.aggregated;

import java.time.Duration;
import java.time.Instant;

/** How long something has been so, as kubectl writes it: in two units at most. */
final class Age {

    private static final int DAYS_OF_A_YEAR = 365;

    private Age() {}

    /** As {@code k8s.io/apimachinery}, {@code duration.HumanDuration}. */
    static String of(Instant since, Instant now) {
        Duration age = Duration.between(since, now);
        if (age.isNegative()) {
            return "0s";
        }
        long seconds = age.toSeconds();
        long minutes = age.toMinutes();
        long hours = age.toHours();
        long days = age.toDays();
        if (seconds < 120) {
            return seconds + "s";
        }
        if (minutes < 10) {
            return two(minutes, "m", seconds % 60, "s");
        }
        if (minutes < 180) {
            return minutes + "m";
        }
        if (hours < 8) {
            return two(hours, "h", minutes % 60, "m");
        }
        if (hours < 48) {
            return hours + "h";
        }
        if (days < 8) {
            return two(days, "d", hours % 24, "h");
        }
        if (days < 2 * DAYS_OF_A_YEAR) {
            return days + "d";
        }
        return days < 8 * DAYS_OF_A_YEAR
                ? two(days / DAYS_OF_A_YEAR, "y", days % DAYS_OF_A_YEAR, "d")
                : days / DAYS_OF_A_YEAR + "y";
    }

    private static String two(long large, String unit, long small, String smaller) {
        return small == 0 ? large + unit : large + unit + small + smaller;
    }
}
