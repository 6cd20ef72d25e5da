package io.gpusharing.scheduler.rounds;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

class PartsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SteppingClock clock = new SteppingClock(Instant.EPOCH);
    private final Parts parts = new Parts(registry, clock);
    private final Rounds sweeping = parts.part("sweeping");

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            sweeping.run(() -> {
                throw new IllegalStateException("a secret of a tenant's pod");
            });
            clock.pass(Duration.ofMinutes(1));
        }
    }

    private double failed(String part) {
        return registry.get("gpusharing.rounds.failed").tag("part", part).functionCounter().count();
    }

    @Test
    void onePartThatFailsTwiceIsToldAndNoOther() {
        Rounds waking = parts.part("waking");
        fail(1);
        assertThat(parts.health().getStatus()).isEqualTo(Status.UP);

        fail(1);
        waking.run(() -> {});

        assertThat(parts.health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(parts.health().getDetails())
                .containsOnlyKeys("sweeping")
                .containsValue("its last rounds have failed; the log says why");
        assertThat(failed("sweeping")).isEqualTo(2);
        assertThat(failed("waking")).isZero();
    }

    @Test
    void oneRoundThatGoesWellEndsIt() {
        fail(2);

        sweeping.run(() -> {});

        assertThat(parts.health().getStatus()).isEqualTo(Status.UP);
    }
}
