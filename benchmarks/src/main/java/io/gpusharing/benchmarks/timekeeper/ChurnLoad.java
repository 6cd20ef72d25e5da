package io.gpusharing.benchmarks.timekeeper;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * So many pods start and end each second. Every pod has five events: created, bound, running,
 * ended, removed. How far the ledger has come is asked of the database: its position is committed
 * with what the event led to.
 */
final class ChurnLoad {

    private static final int LIVES_SECONDS = 10;
    private static final long POLL_NANOS = 2_000_000;

    private final FakeApiServer cluster;
    private final Subject subject;
    private final int rate;
    private final int seconds;
    private final long firstVersion;

    private final long[] sent;
    private final boolean[] matters;
    private final Map<UUID, Long> owed = new HashMap<>();
    private final Latencies latencies = new Latencies();
    private final AtomicBoolean done = new AtomicBoolean();
    private final AtomicLong version = new AtomicLong();
    private final AtomicInteger committed = new AtomicInteger();

    private record Life(MeteredPod pod, Instant scheduled) {}

    ChurnLoad(FakeApiServer cluster, Subject subject, int rate, int seconds, long firstVersion) {
        this.cluster = cluster;
        this.subject = subject;
        this.rate = rate;
        this.seconds = seconds;
        this.firstVersion = firstVersion;
        this.version.set(firstVersion);
        int events = rate * (seconds + LIVES_SECONDS) * 5 + 10;
        this.sent = new long[events];
        this.matters = new boolean[events];
    }

    /** The version behind those of its events. */
    long nextVersion() {
        return firstVersion + rate * (long) seconds * 5;
    }

    /** Runs it to the end, until all is committed. */
    Map<String, Object> run(int firstPod) throws IOException, SQLException, InterruptedException {
        Thread poller = Thread.ofPlatform().name("poller").start(this::poll);
        double cpu = subject.cpuSeconds();
        long start = System.nanoTime();
        Deque<Life> alive = new ArrayDeque<>();
        long behind = 0;
        int total = rate * seconds;
        for (int i = 0; i < total + rate * LIVES_SECONDS; i++) {
            long due = start + i * 1_000_000_000L / rate;
            long now = System.nanoTime();
            if (now < due) {
                LockSupport.parkNanos(due - now);
            }
            behind = Math.max(behind, System.nanoTime() - due);
            if (i < total) {
                alive.add(begin(MeteredPod.of(firstPod + i, second())));
            }
            if (i >= rate * LIVES_SECONDS) {
                end(alive.removeFirst());
            }
        }
        double took = (System.nanoTime() - start) / 1e9;
        double cpuUsed = subject.cpuSeconds() - cpu;
        awaitCommitted();
        double untilCommitted = (System.nanoTime() - start) / 1e9;
        done.set(true);
        poller.join();

        var result = new LinkedHashMap<String, Object>();
        result.put("startsAndEndsPerSecond", rate);
        result.put("seconds", seconds);
        result.put("events", version.get() - firstVersion);
        result.put("eventsPerSecond", Math.round((version.get() - firstVersion) / took));
        result.put(
                "committedPerSecond", Math.round((version.get() - firstVersion) / untilCommitted));
        result.put("generatorBehindMillis", behind / 1_000_000);
        result.put("eventToCommitMillis", latencies.milliseconds());
        result.put("measuredEvents", latencies.count());
        result.put("timekeeperCpuCores", Math.round(cpuUsed / took * 100) / 100.0);
        result.put("pods", owed.size());
        result.put("podsBilledWrong", wrong());
        return result;
    }

    private static Instant second() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS);
    }

    private Life begin(MeteredPod pod) throws IOException {
        Instant now = second();
        send("ADDED", pod, null, false, null, false);
        send("MODIFIED", pod, now, false, null, true);
        send("MODIFIED", pod, now, true, null, false);
        return new Life(pod, now);
    }

    private void end(Life life) throws IOException {
        Instant now = second();
        send("MODIFIED", life.pod(), life.scheduled(), true, now, true);
        send("DELETED", life.pod(), life.scheduled(), true, now, false);
        owed.put(
                life.pod().uid(),
                MeteredPod.RATE * ChronoUnit.SECONDS.between(life.scheduled(), now));
    }

    /**
     * @param posts whether the ledger changes by it, so that its latency is one of a start or an
     *     end
     */
    private void send(
            String type,
            MeteredPod pod,
            @Nullable Instant scheduled,
            boolean runs,
            @Nullable Instant finished,
            boolean posts)
            throws IOException {
        long next = version.get() + 1;
        int index = (int) (next - firstVersion);
        sent[index] = System.nanoTime();
        matters[index] = posts;
        version.set(next);
        cluster.send(type, pod.json(next, scheduled, runs, finished));
    }

    private void poll() {
        try (Connection connection = subject.database();
                PreparedStatement position =
                        connection.prepareStatement(
                                "select coalesce(pod_position, '0') from cluster")) {
            while (!done.get()) {
                LockSupport.parkNanos(POLL_NANOS);
                try (ResultSet row = position.executeQuery()) {
                    row.next();
                    long now = System.nanoTime();
                    int reached = (int) (Long.parseLong(row.getString(1)) - firstVersion);
                    for (int i = Math.max(1, committed.get() + 1); i <= reached; i++) {
                        if (matters[i]) {
                            latencies.add(now - sent[i]);
                        }
                    }
                    committed.accumulateAndGet(reached, Math::max);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitCommitted() throws InterruptedException {
        long end = System.nanoTime() + 60_000_000_000L;
        while (committed.get() < version.get() - firstVersion) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(
                        "%d of %d events are committed a minute after the last"
                                .formatted(committed.get(), version.get() - firstVersion));
            }
            Thread.sleep(10);
        }
    }

    /** Pods whose sum of charges is not what their times say, to the micro-GPU-second. */
    private long wrong() throws SQLException {
        Map<UUID, Long> missing = new HashMap<>(owed);
        long wrong = 0;
        try (Connection connection = subject.database();
                ResultSet row =
                        connection
                                .createStatement()
                                .executeQuery(
                                        """
                                        select s.pod_uid, coalesce(sum(c.amount), 0), bool_and(s.held_until is not null)
                                        from pod_allocation s left join pod_charge c using (cluster, pod_uid) group by 1
                                        """)) {
            while (row.next()) {
                Long expected = missing.remove(row.getObject(1, UUID.class));
                if (expected != null && (expected != row.getLong(2) || !row.getBoolean(3))) {
                    wrong++;
                }
            }
        }
        return wrong + missing.size();
    }
}
