package io.gpusharing.timekeeper.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DefectEventsTest {

    private static final String EVENTS = "/namespaces/gpusharing-system/events";

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final Rounds rounds =
            new Rounds(
                    "reclaim",
                    Duration.ofSeconds(1),
                    LoggerFactory.getLogger(DefectEventsTest.class),
                    clock);

    DefectEventsTest() throws IOException {
        new DefectEvents(
                        api.client(),
                        new Events(api.client(), "gpusharing-timekeeper"),
                        "gpusharing-system",
                        "timekeeper-0",
                        Runnable::run,
                        clock)
                .follow(rounds);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void twoRoundsThrow() {
        rounds.failed(new IllegalArgumentException("not a number"));
        rounds.failed(new IllegalArgumentException("not a number"));
    }

    @Test
    void anEventAboutOurOwnPodSaysWhichPartFails() {
        api.answer(
                "/namespaces/gpusharing-system/pods/timekeeper-0",
                """
                {"metadata": {"name": "timekeeper-0", "namespace": "gpusharing-system", "uid": "own"}}
                """);

        twoRoundsThrow();

        assertThat(api.created(EVENTS)).isOne();
        assertThat(api.to(EVENTS).getFirst().body())
                .contains("\"reason\":\"PartFailing\"", "\"uid\":\"own\"", "Two rounds of reclaim");
    }

    @Test
    void whereWeAreNoPodThereIsNoEvent() {
        api.refuse("/pods/timekeeper-0", 404);

        twoRoundsThrow();

        assertThat(api.to(EVENTS)).isEmpty();
    }

    @Test
    void anApiServerThatTakesNoEventDisturbsNobody() {
        api.refuse("/pods/timekeeper-0", 403);

        twoRoundsThrow();

        assertThat(rounds.failing()).isTrue();
    }
}
