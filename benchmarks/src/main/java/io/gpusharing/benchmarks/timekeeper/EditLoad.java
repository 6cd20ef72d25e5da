package io.gpusharing.benchmarks.timekeeper;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * So many budgets are edited each second: each gets another amount, and its status has to name the
 * generation of that edit.
 */
final class EditLoad {

    private static final int NANOS = 1_000_000_000;

    private final FakeApiServer cluster;
    private final Subject subject;
    private final int rate;
    private final int seconds;
    private final int firstGeneration;

    private final Map<String, Long> sent = new ConcurrentHashMap<>();
    private final AtomicLong followed = new AtomicLong();
    private final Latencies latencies = new Latencies();

    /**
     * @param firstGeneration of each budget's first edit; above those of an earlier load
     */
    EditLoad(FakeApiServer cluster, Subject subject, int rate, int seconds, int firstGeneration) {
        this.cluster = cluster;
        this.subject = subject;
        this.rate = rate;
        this.seconds = seconds;
        this.firstGeneration = firstGeneration;
    }

    /** Edits, and waits until each edit is in the status of its budget. */
    Map<String, Object> run() throws IOException, InterruptedException {
        cluster.onStatus(this::published);
        double cpu = subject.cpuSeconds();
        long start = System.nanoTime();
        int total = rate * seconds;
        for (int i = 0; i < total; i++) {
            long due = start + (long) i * NANOS / rate;
            LockSupport.parkNanos(due - System.nanoTime());
            // Each budget once, so that a later edit never takes the place of an earlier one.
            int budget = i % MeteredPod.TEAMS;
            int generation = firstGeneration + i / MeteredPod.TEAMS;
            sent.put(edit("team-" + budget, generation), System.nanoTime());
            cluster.edit(budget, generation);
        }
        long end = System.nanoTime() + 60L * NANOS;
        while (followed.get() < total && System.nanoTime() < end) {
            Thread.sleep(10);
        }
        double took = (System.nanoTime() - start) / 1e9;
        var result = new LinkedHashMap<String, Object>();
        result.put("editsPerSecond", rate);
        result.put("seconds", seconds);
        result.put("edits", total);
        result.put("followed", followed.get());
        synchronized (latencies) {
            result.put("editToStatusMillis", latencies.milliseconds());
        }
        result.put(
                "timekeeperCpuMillisAnEdit",
                Math.round((subject.cpuSeconds() - cpu) * 1e5 / total) / 100.0);
        result.put("tookSeconds", Math.round(took * 10) / 10.0);
        return result;
    }

    private void published(String budget, long generation) {
        Long since = sent.remove(edit(budget, generation));
        if (since != null) {
            synchronized (latencies) {
                latencies.add(System.nanoTime() - since);
            }
            followed.incrementAndGet();
        }
    }

    private static String edit(String budget, long generation) {
        return budget + "@" + generation;
    }
}
