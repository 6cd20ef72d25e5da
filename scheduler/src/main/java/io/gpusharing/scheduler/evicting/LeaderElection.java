package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.LeaderElector;
import org.springframework.context.SmartLifecycle;

/** Takes part in the election before anybody is evicted, and until nobody is any more. */
final class LeaderElection implements SmartLifecycle, AutoCloseable {

    private final LeaderElector elector;
    private volatile boolean running;

    LeaderElection(LeaderElector elector) {
        this.elector = elector;
    }

    @Override
    public void start() {
        elector.start();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        elector.stop();
    }

    @Override
    public void close() {
        elector.close();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return -2000;
    }
}
