package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** Pauses that end when a test says so. */
final class Pauses implements Backoff.Pause {

    private final BlockingQueue<Duration> begun = new LinkedBlockingQueue<>();
    private final Semaphore ends = new Semaphore(0);

    @Override
    public void pause(Duration time) throws InterruptedException {
        begun.add(time);
        ends.acquire();
    }

    /** A backoff that makes them as long as they can be. */
    Backoff backoff() {
        RandomGenerator zero = () -> 0;
        return new Backoff(zero, this);
    }

    /** Waits until there is a pause. */
    Duration next() throws InterruptedException {
        Duration pause = begun.poll(10, TimeUnit.SECONDS);
        assertThat(pause).as("a pause").isNotNull();
        return pause;
    }

    /** Ends one. */
    void end() {
        ends.release();
    }

    /** Ends those that come as well. */
    void endAll() {
        ends.release(1_000_000);
    }
}
