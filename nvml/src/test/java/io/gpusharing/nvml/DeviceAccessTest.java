package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceAccessTest {

    private static final long SECOND = 1_000_000;

    private @Nullable IOException answer;
    private int looks;
    private final DeviceAccess access =
            new DeviceAccess(() -> {
                looks++;
                if (answer != null) {
                    throw answer;
                }
            });

    private static IOException failing(String reason) {
        return new FileSystemException("/dev/nvidiactl", null, reason);
    }

    @Test
    void whatTheKernelAllowedAndForbidsNowIsLost() {
        assertThat(access.isLost(0)).isFalse();
        answer = failing("Operation not permitted");

        assertThat(access.isLost(10 * SECOND)).isTrue();
        answer = null;
        assertThat(access.isLost(20 * SECOND)).isFalse();
    }

    @Test
    void whatWasNeverAllowedIsNotLost() {
        answer = failing("Operation not permitted");

        assertThat(access.isLost(0)).isFalse();
    }

    @Test
    void aDriverThatIsGoneAndRightsOfTheFileAreSomethingElse() {
        access.isLost(0);
        long now = 0;
        for (IOException other :
                List.of(
                        failing("No such device"),
                        new AccessDeniedException("/dev/nvidiactl"),
                        new IOException("broken"))) {
            answer = other;
            now += 10 * SECOND;

            assertThat(access.isLost(now)).isFalse();
        }
    }

    @Test
    void itIsLookedAtEveryTenSeconds() {
        for (long now = 0; now < 20 * SECOND; now += SECOND) {
            access.isLost(now);
        }

        assertThat(looks).isEqualTo(2);
    }

    @Test
    void whereThereIsNoDriverThereIsNothingToLose() {
        assertThatCode(() -> DeviceAccess.open(Path.of("/dev/null"))).doesNotThrowAnyException();
        assertThatThrownBy(() -> DeviceAccess.open(Path.of("/dev/no-such-device")))
                .isInstanceOf(NoSuchFileException.class);

        answer = new NoSuchFileException("/dev/nvidiactl");
        assertThat(access.isLost(0)).isFalse();
        answer = failing("Operation not permitted");
        assertThat(access.isLost(10 * SECOND)).isFalse();
    }
}
