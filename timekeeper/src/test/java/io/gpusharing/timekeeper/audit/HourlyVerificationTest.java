package io.gpusharing.timekeeper.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.leader.Leadership;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class HourlyVerificationTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final HourlyVerification task =
            new HourlyVerification(
                    registry,
                    Verifications.on(TestDatabase.create(), new SteppingClock(TEN), List.of()),
                    Leadership.alone(),
                    new SteppingClock(TEN));

    private double verifiedAt() {
        return registry.get("gpusharing.ledger.verified.timestamp").gauge().value();
    }

    @Test
    void verifiesFiveMinutesAfterItBeginsToLeadAndThenOnceAnHour() {
        Instant first = TEN.plus(Duration.ofMinutes(5));
        task.takeOver();

        assertThat(task.work(TEN)).isEqualTo(first);
        assertThat(task.work(TEN.plusSeconds(1))).isEqualTo(first);
        assertThat(verifiedAt()).isNaN();

        assertThat(task.work(first)).isEqualTo(first.plus(Duration.ofHours(1)));
        assertThat(verifiedAt()).isEqualTo((double) first.getEpochSecond());
        assertThat(registry.get("gpusharing.ledger.differences").gauge().value()).isZero();
    }
}
