package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WatchdogTest {

    private Optional<String> dead = Optional.empty();
    private final AtomicInteger ended = new AtomicInteger();
    private final Watchdog watchdog = new Watchdog(() -> dead, ended::incrementAndGet);

    @Test
    void aProcessThatLivesGoesOn() {
        assertThat(watchdog.look()).isFalse();
        assertThat(ended).hasValue(0);
    }

    @Test
    void aDeadOneIsEndedAtTheSecondLook() {
        dead = Optional.of("the driver was replaced");
        assertThat(watchdog.look()).isFalse();

        assertThat(watchdog.look()).isTrue();
        assertThat(ended).hasValue(1);
    }

    @Test
    void oneThatStoodStillAndGoesOnIsNotEnded() {
        for (int look = 0; look < 4; look++) {
            dead = Optional.of("what looks after orders has done nothing for 300 s");
            watchdog.look();
            dead = Optional.empty();
            watchdog.look();
        }

        assertThat(ended).hasValue(0);
    }
}
