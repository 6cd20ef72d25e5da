package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.NvmlCall;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class WatchdogTest {

    private static final long MINUTE = 60_000_000;

    private boolean isForbidden;
    private final Watchdog watchdog =
            new Watchdog(
                    0,
                    new DeviceAccess(() -> {
                        if (isForbidden) {
                            throw new FileSystemException(
                                    "/dev/nvidiactl", null, "Operation not permitted");
                        }
                    }));

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
    @DisplayName("case 26: access is revoked for good (daemon-reload)")
    void case26_aContainerThatHasLostItsGpusIsLeftForANewOne() {
        watchdog.lookAtDevices(0);
        assertThat(watchdog.reasonToLeave(MINUTE, MINUTE, null, null)).isNull();

        isForbidden = true;
        watchdog.lookAtDevices(MINUTE);

        assertThat(watchdog.reasonToLeave(MINUTE, MINUTE, null, null))
                .contains("reload of systemd");
        assertThat(watchdog.reasonToLeave(MINUTE, MINUTE, null, "another driver"))
                .isEqualTo("another driver");
    }

    @Test
    void aHealthyMeterIsNotStopped() {
        assertThat(watchdog.reasonToLeave(1_000 * MINUTE, 1_000 * MINUTE, null, null)).isNull();
    }
}
