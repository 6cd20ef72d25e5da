package io.gpusharing.e2e.measurement;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.measurement.MpsClients.Event;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MpsAuditTest {

    private final MpsAudit audit = new MpsAudit();

    /** Of one GPU. */
    private static List<Event> events(String... lines) {
        return Stream.of(lines).map(line -> Event.of("GPU-0", line)).toList();
    }

    @Test
    void aKillWithNoticeThatComesBeforeTheDaemonsIsAFault() {
        audit.delete("red-1", 5);
        List<Event> events =
                events("1 Begins red-1", "2 Begins red-2", "3 Killed red-1", "3 Fails red-2 red-1");

        assertThat(audit.faults(events)).singleElement().asString().contains("only 0.0000");
        assertThat(audit.counts(events).at("/others_ended_by_kills/FiveSecondsAndMore").asInt())
                .isOne();
        assertThat(audit.counts(events).at("/killed_in_their_work_of_five_seconds_and_more"))
                .singleElement()
                .satisfies(kill -> assertThat(kill.path("grace_seconds").asInt()).isEqualTo(5));
    }

    @Test
    void whoFailedByAnothersKillBeforeIsNoMissedOne() {
        audit.delete("red-1", 30);
        audit.kill("red-2");
        List<Event> events =
                events("1 Begins red-1", "2 Begins red-2", "3 Killed red-2", "3 Fails red-1 red-2");

        assertThat(audit.faults(events)).isEmpty();
        assertThat(audit.isComplete(events)).isTrue();
    }

    @Test
    void aKillByNobodyIsAFault() {
        assertThat(audit.faults(events("1 Begins red-1", "2 Killed red-1")))
                .containsExactly("red-1 was killed in its work, and not by us");
    }

    @Test
    void teamsBesideEachOtherAreAFaultAndAfterEachOtherNone() {
        assertThat(audit.faults(events("1 Begins red-1", "2 Begins blue-2"))).hasSize(1);
        assertThat(audit.faults(events("1 Begins red-1", "2 Terminated red-1", "3 Begins blue-2")))
                .isEmpty();
    }

    @Test
    void whoBeginsBetweenAKillAndACheckIsNamed() {
        audit.taken("red-2", Instant.EPOCH);
        audit.taken("red-4", Instant.ofEpochSecond(1));
        List<Event> events =
                events(
                        "1 Killed red-1",
                        "5 Begins red-2",
                        "6 Begins red-4",
                        "7 Checks gpusharing-mps-x",
                        "8 Begins red-3");

        JsonNode early = audit.counts(events).path("joined_before_a_check");

        assertThat(early).hasSize(2);
        assertThat(early)
                .extracting(it -> it.path("its_pod_was_let_in_before").asBoolean())
                .containsExactly(true, false);
        assertThat(early.at("/0/client").asText()).isEqualTo("red-2");
        assertThat(early.at("/0/after_ms").asInt()).isEqualTo(4);
    }
}
