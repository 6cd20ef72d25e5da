package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.SteppingClock;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RoundsTest {

    private final RuntimeException defect = new IllegalArgumentException("not a number");
    private final RuntimeException outage = new UncheckedIOException(new ConnectException("away"));

    private final SteppingClock clock = new SteppingClock(Instant.EPOCH);
    private final Rounds rounds =
            new Rounds(
                    "reclaim",
                    Duration.ofSeconds(1),
                    LoggerFactory.getLogger(RoundsTest.class),
                    clock);

    private int told;
    private int done;

    RoundsTest() {
        rounds.onDefect(() -> told++);
    }

    @Test
    void aPartFailsFromTheSecondRoundInARowThatThrowsUntilOneDoesNot() {
        rounds.failed(defect);
        assertThat(rounds.failing()).isFalse();

        rounds.failed(defect);
        assertThat(rounds.failing()).isTrue();

        rounds.succeeded();
        assertThat(rounds.failing()).isFalse();
        rounds.failed(defect);
        assertThat(rounds.failing()).isFalse();
        assertThat(rounds.failures()).isEqualTo(3);
    }

    @Test
    void eachPauseIsTwiceTheOneBeforeUpToHalfAMinute() {
        assertThat(Stream.generate(() -> rounds.failed(defect).toSeconds()).limit(7))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
        for (int i = 0; i < 100; i++) {
            rounds.failed(defect);
        }
        assertThat(rounds.failed(defect)).hasSeconds(30);

        rounds.succeeded();

        assertThat(rounds.failed(defect)).hasSeconds(1);
    }

    @Test
    void whatIsAwayIsAskedForAgainWithinTheShortestPause() {
        assertThat(Stream.generate(() -> rounds.failed(outage).toSeconds()).limit(3))
                .containsExactly(1L, 1L, 1L);
        assertThat(rounds.failing()).isTrue();
    }

    @Test
    void aDefectIsToldOnceUntilARoundSucceedsAndAnOutageIsNoDefect() {
        rounds.failed(outage);
        rounds.failed(outage);
        assertThat(told).isZero();

        rounds.failed(defect);
        rounds.failed(outage);
        rounds.failed(defect);
        assertThat(told).isEqualTo(1);

        rounds.succeeded();
        rounds.failed(defect);
        rounds.failed(defect);
        assertThat(told).isEqualTo(2);
    }

    private void failWithATimerOfOneSecond(int times) {
        for (int i = 0; i < times; i++) {
            rounds.run(() -> {
                done++;
                throw defect;
            });
            clock.pass(Duration.ofSeconds(1));
        }
    }

    @Test
    void aTimerThatComesDuringAPauseComesForNothing() {
        failWithATimerOfOneSecond(60);

        assertThat(done).as("at 0, 1, 3, 7, 15, 31 seconds").isEqualTo(6);
        assertThat(rounds.failing()).isTrue();

        clock.pass(Duration.ofSeconds(1));
        rounds.run(() -> done++);
        rounds.run(() -> done++);

        assertThat(rounds.failing()).isFalse();
        assertThat(done).isEqualTo(8);
    }

    @Test
    void anErrorEndsTheRoundAndNotTheTimer() {
        rounds.run(() -> {
            throw new AssertionError("a class that does not load, a stack that is too deep");
        });

        assertThat(rounds.failures()).isEqualTo(1);
        assertThat(rounds.pausing()).isTrue();
    }

    @Test
    void aClockThatIsSetBackEndsThePause() {
        failWithATimerOfOneSecond(2);

        clock.set(Instant.EPOCH.minus(Duration.ofDays(1)));
        rounds.run(() -> done++);

        assertThat(done).isEqualTo(3);
    }
}
