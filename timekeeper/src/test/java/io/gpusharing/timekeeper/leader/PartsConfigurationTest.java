package io.gpusharing.timekeeper.leader;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

class PartsConfigurationTest {

    private final PartsConfiguration configuration = new PartsConfiguration();
    private final Rounds reclaim = rounds("reclaim");
    private final Rounds sweep = rounds("pod-sweep");
    private final List<Part> parts = List.of(() -> reclaim, () -> sweep);

    private static Rounds rounds(String part) {
        return new Rounds(
                part,
                Duration.ofSeconds(1),
                LoggerFactory.getLogger(PartsConfigurationTest.class),
                new SteppingClock(Instant.EPOCH));
    }

    private void reclaimThrowsTwice() {
        reclaim.failed(new IllegalArgumentException("not a number"));
        reclaim.failed(new IllegalArgumentException("not a number"));
    }

    @Test
    void aPartWhoseLastTwoRoundsHaveThrownIsDownAndNoOtherIs() {
        var health = configuration.partsHealthContributor(parts);

        reclaimThrowsTwice();

        assertThat(health.stream())
                .extracting(
                        it -> it.name(),
                        it ->
                                requireNonNull(((HealthIndicator) it.contributor()).health())
                                        .getStatus())
                .containsExactlyInAnyOrder(
                        tuple("reclaim", Status.DOWN), tuple("pod-sweep", Status.UP));
    }

    @Test
    void roundsThatThrewAreCountedByPart() {
        var metrics = new SimpleMeterRegistry();
        configuration.failedRounds(parts).bindTo(metrics);

        reclaimThrowsTwice();
        reclaim.succeeded();

        assertThat(failed(metrics, "reclaim")).isEqualTo(2);
        assertThat(failed(metrics, "pod-sweep")).isZero();
    }

    private static double failed(SimpleMeterRegistry metrics, String part) {
        return metrics.get("gpusharing.rounds.failed").tag("part", part).functionCounter().count();
    }
}
