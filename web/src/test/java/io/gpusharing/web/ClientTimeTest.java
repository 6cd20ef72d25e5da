package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClientTimeTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final ClientTime time = new ClientTime(Duration.ofSeconds(3), -SECOND);

    @Test
    void itIsOverAfterThreeTimeouts() {
        for (int i = 0; i < 9; i++) {
            time.came(i * SECOND);
        }
        assertThat(time.isOver()).isFalse();

        time.came(9 * SECOND);

        assertThat(time.isOver()).isTrue();
    }

    @Test
    void theServersTimeIsNotTheClients() {
        for (int i = 0; i < 3; i++) {
            time.came(100L * i * SECOND);
            time.waits(100L * i * SECOND + 99 * SECOND);
        }

        assertThat(time.isOver()).isFalse();
    }

    @Test
    void partsThatComeAtOnceTakeTime() {
        for (int i = 0; i < 1_000; i++) {
            time.came(0);
        }

        assertThat(time.isOver()).isTrue();
    }

    @Test
    void withoutATimeoutThereIsNoEnd() {
        var endless = new ClientTime(Duration.ofMillis(-1), 0);

        endless.came(1_000_000 * SECOND);

        assertThat(endless.isOver()).isFalse();
    }
}
