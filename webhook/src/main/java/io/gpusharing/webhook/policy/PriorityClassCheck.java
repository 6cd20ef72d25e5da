package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.cluster.ClusterWatch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Warns, at the start and whenever it changes, if the cluster's priority classes are not such that
 * pods can get ours, or would gain anything by them.
 */
public final class PriorityClassCheck implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(PriorityClassCheck.class);
    private static final Duration UNTIL_READ = Duration.ofSeconds(1);
    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private final PriorityClassPolicy policy;
    private final ClusterWatch cluster;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofVirtual().name("priority-classes").factory());
    private volatile boolean running;
    private List<String> logged = List.of();

    public PriorityClassCheck(PriorityClassProperties properties, ClusterWatch cluster) {
        this.policy = new PriorityClassPolicy(properties);
        this.cluster = cluster;
    }

    @Override
    public void start() {
        running = true;
        thread.execute(this::step);
    }

    @Override
    public void stop() {
        running = false;
        thread.shutdownNow();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void step() {
        boolean read = cluster.missing().isEmpty();
        if (read) {
            refresh();
        }
        if (running) {
            Duration next = read ? INTERVAL : UNTIL_READ;
            var _ = thread.schedule(this::step, next.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void refresh() {
        List<String> problems = policy.problems(cluster.now().classes());
        problems.stream()
                .filter(problem -> !logged.contains(problem))
                .forEach(problem ->
                        log.atWarn()
                                .addKeyValue("problem", problem)
                                .log("priority classes are not as they should be"));
        if (problems.isEmpty() && !logged.isEmpty()) {
            log.atInfo().log("priority classes are as they should be");
        }
        logged = problems;
    }
}
