package io.gpusharing.timekeeper.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PullBreakerTest {

    private static final Instant T = Instant.parse("2026-03-10T12:00:00Z");
    private static final String IMAGE = "gpusharing/sidecar:1";

    private final PullBreaker breaker = new PullBreaker(3);

    @Test
    void opensWhenThreePodsCannotPullTheImage() {
        fails(1, 0);
        fails(2, 10);
        assertThat(breaker.injection()).isInstanceOf(On.class);

        fails(3, 20);

        assertThat(breaker.injection()).isEqualTo(new Off(IMAGE, T, 3));
    }

    @Test
    void onePodThatTriesAgainAndAgainIsOnePod() {
        for (int second = 0; second < 100; second++) {
            fails(1, second);
        }

        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    @Test
    void aPodThatPulledItInBetweenRestartsTheCount() {
        fails(1, 0);
        fails(2, 1);
        pulls(2);
        fails(3, 3);
        fails(4, 4);

        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    @Test
    void aPodThatPulledItLongAgoProvesNothing() {
        fails(1, 0);
        fails(2, 1);
        pulls(-3600);
        fails(3, 2);

        assertThat(breaker.injection()).isInstanceOf(Off.class);
    }

    @Test
    void closesWhenAWaitingPodGotItsImage() {
        open();

        pulls(60);

        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(60)));
    }

    @Test
    void remainsOpenWhileOnlyOldContainersRun() {
        open();

        pulls(-1);
        fails(4, 60);

        assertThat(breaker.injection()).isEqualTo(new Off(IMAGE, T, 3));
    }

    @Test
    void anotherImageIsAnotherMatter() {
        fails(1, 0);
        fails(2, 0);
        breaker.onPod(new Failing(pod(3), T, "gpusharing/sidecar:2"), T);
        breaker.onPod(new Done("gpusharing/sidecar:2", T.plusSeconds(5)), T.plusSeconds(5));
        assertThat(breaker.injection()).isInstanceOf(On.class);

        fails(3, 6);
        breaker.onPod(new Done("gpusharing/sidecar:2", T.plusSeconds(7)), T.plusSeconds(7));

        assertThat(breaker.injection()).isEqualTo(new Off(IMAGE, T, 3));
    }

    @Test
    void afterAnAdministratorClosedItThePodsThatStillWaitDoNotOpenItAgain() {
        open();

        breaker.closed(T.plusSeconds(30));
        fails(1, 40);
        fails(2, 40);
        fails(3, 40);
        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(30)));

        for (int pod = 4; pod <= 6; pod++) {
            breaker.onPod(new Failing(pod(pod), T.plusSeconds(35), IMAGE), T.plusSeconds(50));
        }
        assertThat(breaker.injection()).isEqualTo(new Off(IMAGE, T.plusSeconds(50), 3));
    }

    @Test
    void goesOnAfterARestartWhereItWas() {
        breaker.restore(new Off(IMAGE, T, 3));

        pulls(-1);
        assertThat(breaker.injection()).isInstanceOf(Off.class);

        pulls(1);
        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    @Test
    void canBeSwitchedOff() {
        var never = new PullBreaker(0);
        for (int pod = 0; pod < 100; pod++) {
            never.onPod(new Failing(pod(pod), T, IMAGE), T);
        }

        assertThat(never.injection()).isInstanceOf(On.class);
    }

    private void open() {
        fails(1, 0);
        fails(2, 0);
        fails(3, 0);
        assertThat(breaker.injection()).isInstanceOf(Off.class);
    }

    private void fails(int pod, long second) {
        breaker.onPod(new Failing(pod(pod), T, IMAGE), T.plusSeconds(second));
    }

    private void pulls(long second) {
        breaker.onPod(new Done(IMAGE, T.plusSeconds(second)), T.plusSeconds(Math.max(0, second)));
    }

    private static UUID pod(int number) {
        return new UUID(0, number);
    }
}
