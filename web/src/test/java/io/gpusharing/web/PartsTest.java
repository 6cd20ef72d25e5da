package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Status;

class PartsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SteppingClock clock = new SteppingClock(Instant.EPOCH);
    private final List<Rounds> followed = new ArrayList<>();
    private final Parts parts = new Parts(registry, followed::add, clock);
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

    @Test
    void roundsOfOthersAreShownAndFollowedLikeItsOwn() {
        var others =
                new Rounds(
                        "reclaim",
                        Duration.ofSeconds(1),
                        LoggerFactory.getLogger(PartsTest.class),
                        clock);

        parts.add(others);
        others.failed(new IllegalArgumentException("not a number"));
        others.failed(new IllegalArgumentException("not a number"));

        assertThat(parts.health().getDetails()).containsOnlyKeys("reclaim");
        assertThat(failed("reclaim")).isEqualTo(2);
        assertThat(followed).containsExactly(sweeping, others);
    }
}
