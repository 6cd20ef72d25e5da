package io.gpusharing.sidecar.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.report.Answer.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReportScheduleTest {

    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Answer TAKEN = new Answer.Taken(Mode.FULL, null);
    private static final Answer AWAY = new Answer.Unavailable("refused", null);

    private final ReportSchedule schedule = new ReportSchedule(PERIOD, new Random(7));

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void reportsAreSpreadByTwentyPercentAroundThePeriod(long seed) {
        ReportSchedule dice = new ReportSchedule(PERIOD, new Random(seed));

        for (int i = 0; i < 1_000; i++) {
            assertThat(dice.after(TAKEN)).isBetween(Duration.ofSeconds(8), Duration.ofSeconds(12));
        }
    }

    @Test
    void whileTheTimekeeperIsAwayTheWaitDoublesUpToAMinute() {
        List<Duration> waits = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            waits.add(schedule.after(AWAY));
        }

        long[] plan = {10, 20, 40, 60, 60, 60};
        for (int i = 0; i < plan.length; i++) {
            assertThat(waits.get(i).toMillis()).isBetween(plan[i] * 800, plan[i] * 1_200);
        }
    }

    @Test
    void oneReportThatIsTakenEndsTheWaiting() {
        schedule.after(AWAY);
        schedule.after(AWAY);
        schedule.after(TAKEN);

        assertThat(schedule.after(AWAY)).isLessThanOrEqualTo(Duration.ofSeconds(12));
    }

    @Test
    void theTimekeeperMayAskForMorePatienceWithinReason() {
        Duration asked = schedule.after(new Answer.Unavailable("busy", Duration.ofSeconds(30)));
        Duration tooMuch = schedule.after(new Answer.Unavailable("busy", Duration.ofDays(1)));

        assertThat(asked).isBetween(Duration.ofSeconds(24), Duration.ofSeconds(36));
        assertThat(tooMuch).isLessThanOrEqualTo(Duration.ofMinutes(6));
    }

    @Test
    void aHeartbeatComesEveryFiveMinutes() {
        assertThat(schedule.after(new Answer.Taken(Mode.HEARTBEAT, null)))
                .isBetween(Duration.ofMinutes(4), Duration.ofMinutes(6));
    }

    @Test
    void aRefusedReportIsNotRepeatedInHaste() {
        schedule.after(new Answer.Refused(403, "no", false));
        schedule.after(new Answer.Refused(403, "no", false));

        assertThat(schedule.after(new Answer.Refused(403, "no", false)))
                .isGreaterThanOrEqualTo(Duration.ofSeconds(32));
    }
}
