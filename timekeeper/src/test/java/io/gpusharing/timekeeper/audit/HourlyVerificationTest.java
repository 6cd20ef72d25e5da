package io.gpusharing.timekeeper.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.timekeeper.leader.Leadership;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;

class HourlyVerificationTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TestDatabase database = TestDatabase.create();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final VerificationRepository found =
            new VerificationRepository(database.rows(), JsonMapper.builder().build());
    private final VerifyController controller = new VerifyController(found, clock);
    private final HourlyVerification task =
            new HourlyVerification(
                    registry,
                    Verifications.on(database, clock, List.of()),
                    found,
                    Leadership.alone(),
                    clock);

    private double verifiedAt() {
        return registry.get("gpusharing.ledger.verified.timestamp").gauge().value();
    }

    @BeforeEach
    void start() {
        database.jdbc()
                .sql("insert into cluster (id, metering_start) values ('test', now())")
                .update();
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

    @Test
    void whatWasFoundIsToldAtOnceWithItsAgeAndBeforeTheFirstTimeWhatToDo() {
        assertThatThrownBy(controller::verify)
                .isInstanceOf(ResponseStatusException.class)
                .hasMessageContaining("404")
                .hasMessageContaining("five minutes after a replica begins to lead");

        task.work(TEN);
        clock.pass(Duration.ofMinutes(7));

        var answer = controller.verify();
        assertThat(answer.getHeaders().getFirst("Age")).isEqualTo("420");
        assertThat(answer.getBody()).isEqualTo(new Verification.Report(TEN, null, 0, List.of()));
    }
}
