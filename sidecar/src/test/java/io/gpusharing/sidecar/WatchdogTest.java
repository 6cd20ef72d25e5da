package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.NvmlCall;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class WatchdogTest {

    private static final long MINUTE = 60_000_000;

    private final Watchdog watchdog = new Watchdog(0);

    @Test
    @DisplayName("case 28: a call that hangs for ever")
    void case28_afterFiveMinutesInOneCallTheProcessLeavesAndNamesIt() {
        assertThat(watchdog.reasonToLeave(6 * MINUTE, MINUTE + 1, NvmlCall.SAMPLES, null)).isNull();
        assertThat(watchdog.reasonToLeave(6 * MINUTE, MINUTE - 1, NvmlCall.SAMPLES, null))
                .contains("SAMPLES");
    }

    @Test
    @DisplayName("case 2: what only a new container mends")
    void case2_aFaultIsReasonEnoughButNotInTheFirstSeconds() {
        assertThat(watchdog.reasonToLeave(MINUTE / 3, MINUTE / 3, null, "another driver")).isNull();
        assertThat(watchdog.reasonToLeave(MINUTE, MINUTE, null, "another driver"))
                .isEqualTo("another driver");
    }

    @Test
    void aHealthyMeterIsNotStopped() {
        assertThat(watchdog.reasonToLeave(1_000 * MINUTE, 1_000 * MINUTE, null, null)).isNull();
    }
}
