package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class HeartbeatTest {

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final Heartbeat heartbeat =
            new Heartbeat("what looks after GPUs", Duration.ofMinutes(2), () -> now);

    @Test
    void aLoopThatGoesRoundLives() {
        now = now.plusSeconds(100);
        heartbeat.beat();
        now = now.plusSeconds(100);

        assertThat(heartbeat.dead()).isEmpty();
    }

    @Test
    void aLoopThatHangsOrHasEndedIsDeadAfterItsTime() {
        now = now.plusSeconds(121);

        assertThat(heartbeat.dead()).hasValue("what looks after GPUs has done nothing for 121 s");
    }
}
