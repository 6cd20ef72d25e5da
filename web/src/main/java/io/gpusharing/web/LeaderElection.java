package io.gpusharing.web;

import io.gpusharing.kubernetes.LeaderElector;
import io.gpusharing.kubernetes.Rounds;
import org.springframework.context.SmartLifecycle;

/**
 * Takes part in the election before all work that needs a leader starts, and until it has ended.
 */
public final class LeaderElection implements SmartLifecycle, Part, AutoCloseable {

    private final LeaderElector elector;
    private volatile boolean running;

    public LeaderElection(LeaderElector elector) {
        this.elector = elector;
    }

    @Override
    public Rounds rounds() {
        return elector.rounds();
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
