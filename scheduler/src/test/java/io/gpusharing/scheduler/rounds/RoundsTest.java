package io.gpusharing.scheduler.rounds;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

class RoundsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Rounds rounds = new Rounds(registry);
    private final Rounds.Part sweeping = rounds.part("sweeping");

    private static void fail() {
        throw new IllegalStateException("a secret of a tenant's pod");
    }

    private double failed(String part) {
        return registry.get("gpusharing.rounds.failed").tag("part", part).counter().count();
    }

    @Test
    void onePartThatFailsTwiceIsToldAndNoOther() {
        Rounds.Part waking = rounds.part("waking");
        sweeping.run(RoundsTest::fail);
        assertThat(rounds.health().getStatus()).isEqualTo(Status.UP);

        sweeping.run(RoundsTest::fail);
        waking.run(() -> {});

        assertThat(rounds.health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(rounds.health().getDetails())
                .containsOnlyKeys("sweeping")
                .containsValue("its last 2 rounds have failed; the log says why");
        assertThat(failed("sweeping")).isEqualTo(2);
        assertThat(failed("waking")).isZero();
    }

    @Test
    void oneRoundThatGoesWellEndsIt() {
        sweeping.run(RoundsTest::fail);
        sweeping.run(RoundsTest::fail);
        sweeping.run(() -> {});

        assertThat(rounds.health().getStatus()).isEqualTo(Status.UP);

        sweeping.run(RoundsTest::fail);

        assertThat(rounds.health().getStatus()).isEqualTo(Status.UP);
    }
}
