package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.Terms;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaderTaskTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final Terms terms = new Terms();
    private final BlockingQueue<String> did = new LinkedBlockingQueue<>();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final LeaderTask task =
            new LeaderTask("test", terms.leadership(), clock) {

                @Override
                protected void takeOver() {
                    did.add("takes over");
                }

                @Override
                protected void handOver() {
                    did.add("hands over");
                }

                @Override
                protected @Nullable Instant work(Instant now) {
                    did.add("works");
                    return null;
                }
            };

    @AfterEach
    void stop() {
        task.stop();
    }

    @Test
    void itWorksAtTheInstantThatItAskedForAndNotBefore() {
        assertThat(LeaderTask.isDue(TEN.plusSeconds(60), TEN, TEN.plusSeconds(59))).isFalse();
        assertThat(LeaderTask.isDue(TEN.plusSeconds(60), TEN, TEN.plusSeconds(60))).isTrue();
        assertThat(LeaderTask.isDue(null, TEN, TEN.plusSeconds(30))).isTrue();
    }

    @Test
    void aClockThatWasAheadPutsNothingOffOnceItIsRight() {
        Instant inAYear = TEN.plus(Duration.ofDays(365));

        assertThat(LeaderTask.isDue(inAYear.plusSeconds(60), inAYear, TEN)).isTrue();
    }

    @Test
    void whatItRemembersIsOldOnceTheClockIsSetBack() throws InterruptedException {
        clock.set(TEN.plus(Duration.ofHours(1)));
        task.start();
        terms.begin();
        assertThat(next(null)).isEqualTo("takes over");
        assertThat(next(null)).isEqualTo("works");

        clock.set(TEN);
        task.trigger();

        assertThat(next("works")).isEqualTo("takes over");
        assertThat(next(null)).isEqualTo("works");
    }

    /** The calls that differ from the ones before; a repeated call does not matter. */
    private @Nullable String next(@Nullable String before) throws InterruptedException {
        String next = did.poll(10, TimeUnit.SECONDS);
        return next != null && next.equals(before) ? next(before) : next;
    }

    @Test
    void itWorksInEachTermAndAtItsBeginAndEndLearnsThatOthersWork() throws InterruptedException {
        task.start();

        terms.begin();
        assertThat(next(null)).isEqualTo("takes over");
        assertThat(next(null)).isEqualTo("works");
        terms.end();
        assertThat(next("works")).isEqualTo("hands over");
        terms.begin();
        assertThat(next(null)).isEqualTo("takes over");
        assertThat(next(null)).isEqualTo("works");
    }

    @Test
    void whatTriggersWorkThatHasFailedDoesNotEndItsPauseButTheTermDoes()
            throws InterruptedException {
        var clock = new SteppingClock(TEN);
        var failing =
                new LeaderTask("failing", terms.leadership(), clock) {

                    @Override
                    protected void handOver() {
                        did.add("hands over");
                    }

                    @Override
                    protected @Nullable Instant work(Instant now) {
                        did.add("fails");
                        trigger();
                        throw new IllegalArgumentException("not a number");
                    }
                };
        terms.begin();
        failing.start();
        assertThat(did.poll(10, TimeUnit.SECONDS)).isEqualTo("fails");

        terms.end();

        assertThat(did.poll(10, TimeUnit.SECONDS)).isEqualTo("hands over");
        terms.begin();
        assertThat(did.poll(10, TimeUnit.SECONDS)).isEqualTo("fails");
        while (failing.rounds().failures() < 2) {
            Thread.onSpinWait();
        }
        clock.pass(Duration.ofSeconds(1));
        assertThat(did.poll(10, TimeUnit.SECONDS)).isEqualTo("fails");
        failing.stop();
    }
}
