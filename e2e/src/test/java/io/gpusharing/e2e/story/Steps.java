package io.gpusharing.e2e.story;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Steps by a thread of their own, each after a pause, until one fails or this is closed. */
final class Steps implements AutoCloseable {

    private final Supplier<Duration> pause;
    private final Runnable step;
    private final Thread thread;
    private volatile boolean open = true;
    private volatile @Nullable RuntimeException failed;

    /**
     * @param name of the thread
     */
    Steps(String name, Supplier<Duration> pause, Runnable step) {
        this.pause = pause;
        this.step = step;
        this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /** Ends them, and throws what a step has thrown. */
    @Override
    public void close() {
        open = false;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (failed != null) {
            throw failed;
        }
    }

    private void run() {
        try {
            while (open) {
                TimeUnit.NANOSECONDS.sleep(pause.get().toNanos());
                step.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failed = e;
        }
    }
}
